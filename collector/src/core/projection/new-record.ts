import {
  type LifecycleEvent,
  type LifecycleSnapshot,
  NO_CAPABILITIES,
  type SnapshotEntry,
} from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";
import { NO_RANGES } from "./sequence-ranges.ts";

/** A child as its first event finds it: nothing is known of it but that it was spoken of. */
export function newRecord(key: number, event: LifecycleEvent, observedAt: number, evidenceAt: number): ChildRecord {
  const { external } = event.lineage;
  return {
    ...BLANK,
    key,
    source: event.source,
    childId: event.childId,
    lineage: event.lineage,
    firstObservedAt: observedAt,
    lastObservedAt: observedAt,
    lastEvidenceAt: evidenceAt,
    lastProgressAt: evidenceAt,
    silentSince: evidenceAt,
    epoch: event.sourceEpoch,
    epochFirstObservedAt: observedAt,
    beginningMissing: !external,
    history: external ? "from_adoption" : "partial",
  };
}

/** A child that an authority names first (A5): it is vouched for, its past is not known. */
export function discoveredRecord(
  key: number,
  snapshot: LifecycleSnapshot,
  entry: SnapshotEntry,
  observedAt: number,
  evidenceAt: number,
): ChildRecord {
  return {
    ...BLANK,
    key,
    source: snapshot.source,
    childId: entry.childId,
    lineage: entry.lineage ?? { rootChildId: entry.childId, attempt: 0, external: false },
    lineageAssumed: entry.lineage === undefined,
    firstObservedAt: observedAt,
    lastObservedAt: observedAt,
    lastEvidenceAt: evidenceAt,
    lastProgressAt: evidenceAt,
    silentSince: evidenceAt,
    epoch: snapshot.sourceEpoch,
    epochFirstObservedAt: observedAt,
    history: "partial",
  };
}

/** Every member present, so that all records share one shape. */
export const BLANK: ChildRecord = {
  key: -1,
  source: "",
  childId: "",
  lineage: { rootChildId: "", attempt: 0, external: false },
  lineageAssumed: false,
  capabilities: NO_CAPABILITIES,
  state: undefined,
  stateAt: undefined,
  stateSequence: undefined,
  terminalEvidence: undefined,
  stateFromSnapshot: false,
  activity: undefined,
  activityAt: undefined,
  activitySequence: undefined,
  heartbeatAt: undefined,
  heartbeatSequence: undefined,
  facts: undefined,
  firstObservedAt: 0,
  lastObservedAt: 0,
  lastEvidenceAt: 0,
  lastProgressAt: 0,
  silentSince: 0,
  epoch: "",
  epochFirstObservedAt: 0,
  epochHasState: true,
  supersededEpochs: [],
  epochsForgotten: false,
  highestSequence: undefined,
  gaps: NO_RANGES,
  gapsForgotten: false,
  epochGap: false,
  beginningMissing: false,
  history: "partial",
  stale: undefined,
  reconciliation: undefined,
  misses: 0,
  conflicts: 0,
  corrections: 0,
  outOfOrder: 0,
  lateEvidence: undefined,
};
