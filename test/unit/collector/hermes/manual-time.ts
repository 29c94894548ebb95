import type { Clock } from "@agent-lifecycle/collector";
import type { Schedule } from "@agent-lifecycle/collector/parts";
import { START_MS } from "../../../kit/start-time.ts";

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** Time that moves only when a test moves it: a clock, and the timers that go by it. */
export class ManualTime implements Clock {
  #nowMs = START_MS;
  /** Where the wall clock was stepped to. */
  wallOffsetMs = 0;
  #timers: Timer[] = [];

  wallNow = (): number => this.#nowMs + this.wallOffsetMs;
  monotonicNow = (): number => this.#nowMs - START_MS;

  schedule: Schedule = (run, delayMs) => {
    const timer: Timer = { dueMs: this.#nowMs + delayMs, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  get waiting(): number {
    return this.#timers.length;
  }

  /** When the next timer is due, from now. */
  get nextInMs(): number | undefined {
    return this.#timers.length === 0 ? undefined : Math.min(...this.#timers.map(({ dueMs }) => dueMs)) - this.#nowMs;
  }

  /** Moves the time by `byMs`, running what falls due on the way in order, and what that leads to. */
  async advance(byMs: number): Promise<void> {
    const until = this.#nowMs + byMs;
    await settled();
    for (;;) {
      const next = this.#timers
        .filter(({ dueMs }) => dueMs <= until)
        .toSorted((one, other) => one.dueMs - other.dueMs)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.run();
      await settled();
    }
    this.#nowMs = until;
  }
}

/** Every promise that is settled already has been answered, and what follows from it. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 50; round += 1) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}
