/**
 * Everything the contract can object to. Codes are part of the public surface: displays, metrics and vectors name them.
 */
export const DIAGNOSTIC_CODES = [
  // the event itself (contract section 2)
  "invalid_event",
  "adoption_time_missing",
  "reserved_member_malformed",
  "details_cut",
  "member_name_forbidden",
  // the projection (contract section 3)
  "identity_conflict",
  "lineage_conflict",
  "epoch_superseded",
  "out_of_order",
  "terminal_immutable",
  "illegal_transition",
  "sequence_gap",
  "missing_created",
  "state_unknown",
  "epoch_gap",
  // freshness and reconciliation (contract section 4)
  "reconciliation_pending",
  "unknown_child",
  // snapshots (contract section 5)
  "invalid_snapshot",
  "epoch_conflict",
  "snapshot_outdated",
  "snapshot_incomplete",
  // JSONL (contract section 6)
  "malformed",
  "oversize",
  "truncated",
  // adapters: a word of the observed system that nobody has defined
  "unsupported_status",
  // the collector's door: what it may not take, or can no longer judge
  "source_not_allowed",
  "beyond_retention",
  // visibility contracts: what was declared of a source, and what is seen of it
  "visibility_mismatch",
] as const;

export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

/** One objection. `text` is bounded and redacted; `path` names the member, dotted: `lineage.external`. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly path?: string;
  readonly text?: string;
}
