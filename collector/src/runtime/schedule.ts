/** Calls back after a delay, like `setTimeout`. Returns its cancellation. */
export type Schedule = (callback: () => void, delayMs: number) => () => void;

/** The system's timers, which keep no process alive. */
export function scheduleUnreferenced(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
