import type { Schedule } from "./schedule.ts";

export interface Stoppable {
  shutdown(): Promise<void>;
  /** Names of the parts that have not stopped. */
  runningParts(): readonly string[];
}

export type ShutdownOutcome =
  | { readonly kind: "stopped" }
  /** The deadline came first. */
  | { readonly kind: "late"; readonly runningParts: readonly string[] };

/**
 * Shuts down and waits for it, for so long and no longer. A shutdown that is late goes on by itself.
 * @param schedule must keep the process alive: what hangs may be nothing that would.
 */
export async function shutDownWithin(
  stoppable: Stoppable,
  timeoutMs: number,
  schedule: Schedule,
): Promise<ShutdownOutcome> {
  let cancel: () => void = () => {};
  const deadline = new Promise<ShutdownOutcome>((resolve) => {
    cancel = schedule(() => resolve({ kind: "late", runningParts: stoppable.runningParts() }), timeoutMs);
  });
  const stopped = stoppable.shutdown().then((): ShutdownOutcome => ({ kind: "stopped" }));
  try {
    return await Promise.race([stopped, deadline]);
  } finally {
    cancel();
  }
}
