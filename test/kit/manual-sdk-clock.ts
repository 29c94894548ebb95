import type { CancelTimer, Clock } from "@agent-lifecycle/sdk";

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock for the SDK that moves only when a test moves it. */
export class ManualSdkClock implements Clock {
  #nowMs: number;
  #order = 0;
  #timers: Timer[] = [];

  constructor(startMs: number = Date.UTC(2026, 8, 1, 9, 0, 0)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): CancelTimer {
    const timer: Timer = { dueMs: this.#nowMs + delayMs, order: this.#order++, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  afterHolding(delayMs: number, run: () => void): CancelTimer {
    return this.after(delayMs, run);
  }

  soon(run: () => void): CancelTimer {
    return this.after(0, run);
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Moves the time, running every timer on its way in order, with the promises each one settles. */
  async advance(byMs: number): Promise<void> {
    const until = this.#nowMs + byMs;
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      const { dueMs, run } = next;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, dueMs);
      run();
      await settlePromises();
    }
    this.#nowMs = until;
    await settlePromises();
  }

  #next(until: number): Timer | undefined {
    return this.#timers
      .filter((timer) => timer.dueMs <= until)
      .sort((first, second) => first.dueMs - second.dueMs || first.order - second.order)[0];
  }
}

/** Lets every promise that can settle do so, without any timer. */
async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < 32; turn += 1) await Promise.resolve();
}
