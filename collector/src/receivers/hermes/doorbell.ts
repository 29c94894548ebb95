import type { Schedule } from "../../runtime/schedule.ts";

/** A wait that can be cut short: by a ring, which is remembered until somebody waits, or for good. */
export class Doorbell {
  readonly #schedule: Schedule;
  #rung = false;
  #answer: (() => void) | undefined;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  ring(): void {
    this.#rung = true;
    this.#answer?.();
  }

  /** Resolves after `ms`, at a ring, or when the signal fires. One waits at a time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = this.#schedule(resolve, ms);
      this.#answer = resolve;
      const stop = (): void => resolve();
      signal.addEventListener("abort", stop);
      await promise;
      signal.removeEventListener("abort", stop);
      cancel();
      this.#answer = undefined;
    }
    this.#rung = false;
  }
}
