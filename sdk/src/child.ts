import type { Lineage, State } from "@agent-lifecycle/proto";
import type { RetryOptions } from "./child-options.ts";
import type { DetailsInput, WaitingReason } from "./event-details.ts";

/**
 * The handle of one child. Every method returns at once and never throws: a call that the contract does not allow, or
 * with arguments that cannot be used, emits nothing and is a diagnostic. Legal order:
 * created → starting → running ⇄ waiting → completed | failed | cancelled; failed and cancelled also from created and
 * starting, waiting also from starting. Nothing follows an ending but `retry()`.
 */
export interface Child {
  readonly childId: string;
  /** The state last emitted. */
  readonly state: State;
  readonly lineage: Lineage;
  /** Something is bringing it up. */
  starting(details?: DetailsInput): void;
  /** It works. Only from starting or waiting: a new child is to be `starting()` first. */
  running(details?: DetailsInput): void;
  /** It is alive and blocked on somebody or something. A text becomes `waitingOn { kind: "other", text }`. */
  waiting(reason?: WaitingReason, details?: DetailsInput): void;
  /** What it does now, for people: redacted, cut at 1,024 characters. Changes no state. */
  activity(text: string, details?: DetailsInput): void;
  /** A sign of life on demand; automatic ones go on beside it. Changes no state. */
  heartbeat(details?: DetailsInput): void;
  completed(details?: DetailsInput): void;
  /** `cause`: a short word (`timeout`), or an error: its name becomes the cause, its message `errorMessage`. */
  failed(cause?: unknown, details?: DetailsInput): void;
  cancelled(details?: DetailsInput): void;
  /**
   * A new child in the same place: same root and parent, next attempt. Only after this one has ended; before, the
   * child returned is inert and emits nothing.
   */
  retry(options?: RetryOptions): Child;
}
