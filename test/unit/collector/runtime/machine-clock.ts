import type { Clock } from "@agent-lifecycle/collector";
import { START_MS } from "../../../kit/start-time.ts";

/** Both clocks of one machine; they move only when a test says so. */
export class MachineClock implements Clock {
  #wallMs = START_MS;
  #monotonicMs = 0;

  wallNow(): number {
    return this.#wallMs;
  }

  monotonicNow(): number {
    return this.#monotonicMs;
  }

  /** Time passes, as both clocks see it. */
  pass(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }

  /** The machine is suspended: the monotonic clock stands still. */
  suspend(ms: number): void {
    this.#wallMs += ms;
  }

  /** Somebody sets the wall clock, forwards or back. */
  setWall(byMs: number): void {
    this.#wallMs += byMs;
  }
}
