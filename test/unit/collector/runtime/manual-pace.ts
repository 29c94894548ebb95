import type { Schedule } from "@agent-lifecycle/collector/parts";

/** A timer that a test sets off. */
export class ManualPace {
  #planned: { readonly callback: () => void; readonly delayMs: number } | undefined;
  #onPlanned: (() => void) | undefined;

  readonly schedule: Schedule = (callback, delayMs) => {
    if (this.#planned !== undefined) throw new Error("planned twice");
    const plan = { callback, delayMs };
    this.#planned = plan;
    this.#onPlanned?.();
    this.#onPlanned = undefined;
    return () => {
      if (this.#planned === plan) this.#planned = undefined;
    };
  };

  /** The delay that is running now. Milliseconds; `undefined` when none is. */
  get plannedMs(): number | undefined {
    return this.#planned?.delayMs;
  }

  /** The delay is over. @throws when none is running. */
  fire(): void {
    const planned = this.#planned;
    if (planned === undefined) throw new Error("nothing is planned");
    this.#planned = undefined;
    planned.callback();
  }

  /** The delay is over; resolves when what it set off has ended and planned the next. */
  async next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onPlanned = resolve;
    this.fire();
    await promise;
  }
}
