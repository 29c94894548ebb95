import type { LifecycleEvent } from "@agent-lifecycle/proto";

/** How patient a flush is with an endpoint that does not answer. */
export type FlushPatience =
  /** Keeps trying; the caller has a deadline. */
  | "until_deadline"
  /** The process is about to end: an endpoint that cannot be reached at all is not tried twice. */
  | "process_exit";

/**
 * Where a lifecycle's events go. No method throws or rejects; every accepted event is counted exactly once, as
 * exported, spooled, written, handed over or dropped.
 */
export interface EventSink {
  /**
   * Takes an event over, in the caller's turn, without waiting for anything. `isOld`: it was observed long before, and is
   * no sign of life now.
   */
  accept(event: LifecycleEvent, observedAtMs: number, isOld?: boolean): void;
  /** Accepted events whose fate is open. */
  buffered(): number;
  /** Accepted events that lie in a spool. */
  spooled(): number;
  /** Resolves when every event accepted before the call has met its fate. Calls may overlap. */
  flush(patience: FlushPatience): Promise<void>;
  /**
   * Decides every open event now, in this turn: written synchronously where there is a spool or a JSONL destination, else dropped
   * for the reason.
   */
  settleNow(reason: "shutdown_timeout" | "process_exit"): void;
  /** Gives up sockets, files and timers. Called once, after the last flush. */
  close(): Promise<void>;
}
