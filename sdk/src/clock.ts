/** Ends a timer; safe to call again and after it has run. */
export type CancelTimer = () => void;

/** Time as the SDK sees it. Tests hand in one that they move themselves. */
export interface Clock {
  /** Wall clock, milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Runs once, at the earliest after `delayMs`. The timer never keeps the process alive. */
  after(delayMs: number, run: () => void): CancelTimer;
  /** As `after`, but the process stays alive until the timer has run or was cancelled. Only for bounded waits of the host. */
  afterHolding(delayMs: number, run: () => void): CancelTimer;
  /** Runs once, when the running callback and its microtasks are done. Never keeps the process alive. */
  soon(run: () => void): CancelTimer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  afterHolding: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (run) => {
    const immediate = setImmediate(run);
    immediate.unref();
    return () => clearImmediate(immediate);
  },
};
