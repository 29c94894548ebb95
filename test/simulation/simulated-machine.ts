import type { Clock } from "@agent-lifecycle/collector";
import type { Schedule } from "@agent-lifecycle/collector/parts";
import { START_MS } from "../kit/start-time.ts";

interface Planned {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * A machine whose time passes only from one thing that happens to the next. Wall clock and monotonic clock are its own;
 * `now` is the true time, which neither of them has to tell.
 */
export class SimulatedMachine implements Clock {
  #now = 0;
  #wallOffset = START_MS;
  #monotonicOffset = 0;
  #order = 0;
  readonly #planned: Planned[] = [];

  /** True time since the beginning. Milliseconds. */
  get now(): number {
    return this.#now;
  }

  wallNow(): number {
    return this.#now + this.#wallOffset;
  }

  monotonicNow(): number {
    return this.#now + this.#monotonicOffset;
  }

  /** Somebody sets the wall clock. */
  setWall(byMs: number): void {
    this.#wallOffset += byMs;
  }

  /** Everything stands still for a while and nothing that was planned happens in it, save what others do meanwhile. */
  suspend(ms: number, options: { readonly isMonotonicFrozen: boolean }): void {
    this.#now += ms;
    if (options.isMonotonicFrozen) this.#monotonicOffset -= ms;
  }

  /** Happens after a delay of true time. Returns its cancellation. */
  readonly schedule: Schedule = (run, delayMs) => {
    this.#order += 1;
    const planned = { at: this.#now + Math.max(0, delayMs), order: this.#order, run };
    this.#planned.push(planned);
    return () => {
      const index = this.#planned.indexOf(planned);
      if (index >= 0) this.#planned.splice(index, 1);
    };
  };

  /** Lets the next thing happen. @returns whether there was any before `until`. */
  step(until: number): boolean {
    let next: Planned | undefined;
    for (const planned of this.#planned) {
      if (next === undefined || planned.at < next.at || (planned.at === next.at && planned.order < next.order)) {
        next = planned;
      }
    }
    if (next === undefined || next.at > until) {
      this.#now = Math.max(this.#now, until);
      return false;
    }
    this.#planned.splice(this.#planned.indexOf(next), 1);
    this.#now = Math.max(this.#now, next.at);
    next.run();
    return true;
  }
}
