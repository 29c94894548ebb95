import { formatTimestamp } from "@agent-lifecycle/proto";

/** A Tuesday morning; tests that do not care about the time start here. */
export const START_MS: number = 1_788_253_200_000;

/** Time that moves only when a test says so. */
export class ManualClock {
  #nowMs: number;

  constructor(startMs: number = START_MS) {
    this.#nowMs = startMs;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#nowMs;
  }

  /** The current time as RFC 3339 text. */
  text(): string {
    return formatTimestamp(this.#nowMs);
  }

  /** @returns the new time. */
  advance(ms: number): number {
    if (ms < 0) throw new RangeError("time does not run backwards here");
    this.#nowMs += ms;
    return this.#nowMs;
  }
}
