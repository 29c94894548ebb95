import { type ChildView, formatTimestamp } from "@agent-lifecycle/proto";
import { type ChildRecord, isProvisional } from "./child-record.ts";

/** The record as displays read it. It adds nothing and hides nothing that the record knows. */
export function viewOf(record: ChildRecord): ChildView {
  const { stateInferred, ...facts } = record.facts ?? {};
  return {
    source: record.source,
    childId: record.childId,
    lineage: record.lineage,
    capabilities: record.capabilities,
    state: record.state ?? null,
    stateAt: optionalTime(record.stateAt),
    stateInferred: stateInferred === true,
    stateEvidence: stateEvidenceOf(record),
    terminalEvidence: record.terminalEvidence ?? null,
    activity: record.activity ?? null,
    activityAt: optionalTime(record.activityAt),
    heartbeatAt: optionalTime(record.heartbeatAt),
    facts,
    provisional: isProvisional(record),
    missing: missingOf(record),
    stale:
      record.stale === undefined ? null : { since: formatTimestamp(record.stale.since), reason: record.stale.reason },
    reconciliation:
      record.reconciliation === undefined
        ? null
        : {
            requestedAt: formatTimestamp(record.reconciliation.requestedAt),
            deadline: formatTimestamp(record.reconciliation.deadline),
          },
    misses: record.misses,
    history: record.history,
    firstObservedAt: formatTimestamp(record.firstObservedAt),
    lastObservedAt: formatTimestamp(record.lastObservedAt),
    lastEvidenceAt: formatTimestamp(record.lastEvidenceAt),
    lastProgressAt: formatTimestamp(record.lastProgressAt),
    sourceEpoch: record.epoch,
    highestSequence: record.highestSequence ?? null,
    gaps: record.gaps,
    conflicts: record.conflicts,
    corrections: record.corrections,
    outOfOrder: record.outOfOrder,
    lateEvidence:
      record.lateEvidence === undefined
        ? null
        : {
            count: record.lateEvidence.count,
            lastObservedAt: formatTimestamp(record.lateEvidence.lastObservedAt),
            lastState: record.lateEvidence.lastState ?? null,
          },
  };
}

function stateEvidenceOf(record: ChildRecord): ChildView["stateEvidence"] {
  if (record.state === undefined) return null;
  return record.terminalEvidence ?? (record.stateFromSnapshot ? "authoritative_snapshot" : "event");
}

function missingOf(record: ChildRecord): ChildView["missing"] {
  const missing: ("sequence_gap" | "epoch_gap" | "beginning")[] = [];
  if (record.gaps.length > 0 || record.gapsForgotten) missing.push("sequence_gap");
  if (record.epochGap) missing.push("epoch_gap");
  if (record.beginningMissing) missing.push("beginning");
  return missing;
}

function optionalTime(time: number | undefined): string | null {
  return time === undefined ? null : formatTimestamp(time);
}
