import type { Clock } from "./clock.ts";

/**
 * Waits for the work, but no longer than `timeoutMs`. The wait holds the process alive; the work need not.
 * @returns whether the work was done in time. Rejects as the work does.
 */
export function beforeDeadline(work: Promise<void>, timeoutMs: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.afterHolding(timeoutMs, () => resolve(false));
    work.then(
      () => {
        cancel();
        resolve(true);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
