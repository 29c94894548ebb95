import { type DiagnosticCode, isTerminal } from "@agent-lifecycle/proto";
import { learnFactsOfState } from "./child-facts.ts";
import type { ChildRecord } from "./child-record.ts";
import type { AuditEntry, InputStatus, ReconciliationInput, StaleInput } from "./input.ts";

/** What a verdict did to one child. */
export interface VerdictFold {
  readonly status: InputStatus;
  readonly diagnostic?: DiagnosticCode;
  readonly record: ChildRecord | undefined;
  readonly audit?: AuditEntry;
}

/** S2 and S7: the verdict holds only for the silence it judged. Evidence that was stored first wins. */
export function foldStale(record: ChildRecord | undefined, input: StaleInput): VerdictFold {
  if (record === undefined) return { status: "rejected", diagnostic: "unknown_child", record };
  if (isTerminal(record.state)) return { status: "terminal_immutable", record };
  const overtaken =
    record.state === undefined || record.stale !== undefined || record.silentSince !== input.silentSince;
  if (overtaken) return { status: "deduplicated", record };
  return {
    status: "applied",
    record: {
      ...record,
      stale: { since: input.at, reason: "deadline" },
      reconciliation: { requestedAt: input.at, deadline: input.deadline },
    },
  };
}

/** S4 and S5: the only way in which the collector itself says lost. */
export function foldReconciliation(record: ChildRecord | undefined, input: ReconciliationInput): VerdictFold {
  if (record === undefined) return { status: "rejected", diagnostic: "unknown_child", record };
  if (record.state === undefined) return { status: "deduplicated", record };
  if (isTerminal(record.state)) return { status: "terminal_immutable", record };
  if (record.reconciliation === undefined) return { status: "deduplicated", record };
  if (input.outcome === "unavailable") return { status: "applied", record: { ...record, reconciliation: undefined } };
  if (input.at < record.reconciliation.deadline) {
    return { status: "provisional", diagnostic: "reconciliation_pending", record };
  }
  return {
    status: "applied",
    record: {
      ...record,
      state: "lost",
      stateAt: input.at,
      stateSequence: record.highestSequence,
      terminalEvidence: "failed_reconciliation",
      facts: learnFactsOfState(record.facts, input.cause === undefined ? undefined : { cause: input.cause }, "lost"),
      stale: undefined,
      reconciliation: undefined,
    },
    audit: {
      reason: "failed_reconciliation",
      source: record.source,
      childId: record.childId,
      from: record.state,
      to: "lost",
      at: input.at,
    },
  };
}

/**
 * S1: nobody is judged for a silence that the collector slept through: every silence begins anew, also one that seems to
 * begin later because the clock was ahead. It could not hear an answer either: an open question is asked anew, with the
 * whole time to answer.
 */
export function foldResumed(record: ChildRecord, at: number): ChildRecord {
  if (isTerminal(record.state)) return record;
  const { reconciliation } = record;
  if (reconciliation !== undefined) {
    if (reconciliation.requestedAt === at) return record;
    const deadline = at + (reconciliation.deadline - reconciliation.requestedAt);
    return { ...record, reconciliation: { requestedAt: at, deadline } };
  }
  if (record.stale !== undefined || record.silentSince === at) return record;
  return { ...record, silentSince: at };
}
