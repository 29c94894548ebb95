/** Where times come from. The core never sees it; tests bring their own. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. It may step. */
  wallNow(): number;
  /** Milliseconds that never step back, and that stand still while the machine is suspended. */
  monotonicNow(): number;
}

export const SYSTEM_CLOCK: Clock = {
  wallNow: () => Date.now(),
  monotonicNow: () => performance.now(),
};
