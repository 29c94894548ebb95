import type { DiagnosticCode } from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";
import type { AuditEntry, InputStatus } from "./input.ts";
import type { SequencePlace } from "./sequence-tracking.ts";

/** What one event did to one child. */
export interface EventFold {
  readonly status: InputStatus;
  readonly diagnostic?: DiagnosticCode;
  /** The child's record after the event; the same object when nothing changed. */
  readonly record: ChildRecord | undefined;
  readonly audit?: AuditEntry;
}

/** P9, P10 and P11 differ only in where the sequence stood; a child that still has no state is the rest of P12. */
export function accepted(after: ChildRecord, place: SequencePlace): EventFold {
  if (place === "in_gap") return { status: "gap_filled", record: after };
  if (after.state === undefined) return { status: "provisional", diagnostic: "state_unknown", record: after };
  if (place === "ahead") return { status: "provisional", diagnostic: "sequence_gap", record: after };
  return { status: "applied", record: after };
}

export function outOfOrder(record: ChildRecord, diagnostic: DiagnosticCode): EventFold {
  return { status: "out_of_order", diagnostic, record: { ...record, outOfOrder: record.outOfOrder + 1 } };
}

export function conflict(record: ChildRecord | undefined, diagnostic: DiagnosticCode): EventFold {
  return {
    status: "conflict",
    diagnostic,
    record: record === undefined ? undefined : { ...record, conflicts: record.conflicts + 1 },
  };
}
