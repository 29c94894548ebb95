import type { LifecycleEvent, Lineage, State } from "@agent-lifecycle/proto";
import type { InputStatus, StaleReason, TerminalEvidence } from "../core/index.ts";

/**
 * What one stored input did to one child, as back ends are told it. A function of the log alone: read again, at any
 * later time, it is the same again.
 */
export interface ChildUpdate {
  readonly inputId: number;
  /** Its place among the updates of the input. */
  readonly index: number;
  /** When the collector got the input. Milliseconds since the epoch. */
  readonly at: number;
  readonly source: string;
  readonly childId: string;
  readonly lineage: Lineage | undefined;
  readonly epoch: string | undefined;
  /** The name by which people know the child. */
  readonly name: string | undefined;
  readonly status: InputStatus;
  readonly diagnostic: string | undefined;
  readonly what: What;
}

/** What happened. */
export type What =
  | { readonly kind: "state"; readonly transition: Transition; readonly event: LifecycleEvent }
  | { readonly kind: "correction"; readonly transition: Transition; readonly snapshotId: string }
  | { readonly kind: "loss"; readonly transition: Transition }
  | { readonly kind: "stale"; readonly state: State | undefined; readonly reason: StaleReason; readonly since: number }
  | { readonly kind: "unanswered"; readonly state: State | undefined }
  | { readonly kind: "epoch"; readonly from: string; readonly to: string }
  | { readonly kind: "activity"; readonly event: LifecycleEvent }
  | { readonly kind: "objection"; readonly event: LifecycleEvent };

/** A change of state, and what is known of the time before it. */
export interface Transition {
  readonly to: State;
  /** When the source saw the state begin; for a loss, when the collector gave its verdict. Milliseconds since the epoch. */
  readonly at: number;
  readonly evidence: TerminalEvidence;
  /** The state that was left; `undefined` when this is the first that is known. */
  readonly left: LeftState | undefined;
  /** When the first known state began. */
  readonly firstStateAt: number;
}

export interface LeftState {
  readonly state: State;
  readonly since: number;
  /** What the child did in it was not seen in full: something is missing between the two states. */
  readonly isProvisional: boolean;
  /** Ended by another epoch than the one it began in. */
  readonly previousEpochSpanId: string | undefined;
  readonly spanId: string;
}
