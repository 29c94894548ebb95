import type { AdapterView } from "@agent-lifecycle/proto";

/**
 * What became of a request to stop a child.
 *
 * requested    the system knows the child and told it; what becomes of it is told by evidence
 * not_found    the system has no such child (any more)
 * not_allowed  the system, or the configuration, does not let us
 * failed       no answer came: the child may or may not have been told
 */
export interface CancelOutcome {
  readonly kind: "requested" | "not_found" | "not_allowed" | "failed";
  /** In words, without secrets. */
  readonly text: string;
}

/** A source whose children an adapter observes in a system that does not report them by itself. */
export interface ObservedSource {
  readonly source: string;
  /** What is known of the observing itself, for displays. Without secrets. */
  view(): AdapterView;
  /** Asks the system to stop a child. Never rejects, and changes no state: that is for evidence (D5). */
  cancel(childId: string): Promise<CancelOutcome>;
}
