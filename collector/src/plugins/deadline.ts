import type { Schedule } from "../runtime/schedule.ts";

export type DeadlineOutcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "late" };

/** Timers that keep the process alive: what hangs may be nothing that would, and its end is to be told. */
export function scheduleDeadline(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

/** Does somebody else's work and waits for it for a while. What it comes to later is not heard of. Never rejects. */
export function withinDeadline<Value>(
  work: () => Value | Promise<Value>,
  timeoutMs: number,
  schedule: Schedule,
): Promise<DeadlineOutcome<Value>> {
  return new Promise((resolve) => {
    const cancel = schedule(() => resolve({ kind: "late" }), timeoutMs);
    const end = (outcome: DeadlineOutcome<Value>): void => {
      cancel();
      resolve(outcome);
    };
    // In a function of its own, so that what throws at once is a failure like any other.
    const run = async (): Promise<Value> => await work();
    run().then(
      (value) => end({ kind: "done", value }),
      (error: unknown) => end({ kind: "failed", error }),
    );
  });
}
