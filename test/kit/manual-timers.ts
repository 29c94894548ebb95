import type { Schedule } from "@agent-lifecycle/collector/parts";

interface Timer {
  readonly dueAt: number;
  readonly delayMs: number;
  readonly callback: () => void;
}

/** Any number of timers, whose time passes only when a test says so. */
export class ManualTimers {
  #now = 0;
  #timers: Timer[] = [];

  readonly schedule: Schedule = (callback, delayMs) => {
    const timer = { dueAt: this.#now + delayMs, delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  /** The delays that were asked for by the timers that run now. Milliseconds. */
  delays(): readonly number[] {
    return this.#timers.map(({ delayMs }) => delayMs);
  }

  /** Time passes, and what comes due in it is called, the earliest first. */
  letPass(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ dueAt }) => dueAt <= until).toSorted((a, b) => a.dueAt - b.dueAt);
      if (next === undefined) break;
      this.#now = next.dueAt;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      next.callback();
    }
    this.#now = until;
  }
}
