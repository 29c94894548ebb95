import type { Clock } from "../../runtime/clock.ts";

/** Times of observation that never run backwards, whatever the wall clock does: events without a sequence are ordered by them. */
export class ObservationTimes {
  readonly #clock: Clock;
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch, whole. */
  now(): number {
    this.#last = Math.max(this.#last, Math.trunc(this.#clock.wallNow()));
    return this.#last;
  }
}
