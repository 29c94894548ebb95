import { NO_CAPABILITIES } from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";
import type { AuditEntry } from "./input.ts";
import { NO_RANGES } from "./sequence-ranges.ts";

/** Superseded epochs a record remembers by name. Older ones are still told by time: they lie before the current one. */
const MAX_SUPERSEDED_EPOCHS = 16;

export type EpochRelation = "current" | "superseded" | "newer";

/** Where an epoch stands against the child's own (P5, A3). */
export function relateEpoch(record: ChildRecord, epoch: string, observedAt: number): EpochRelation {
  if (epoch === record.epoch) return "current";
  if (record.supersededEpochs.includes(epoch)) return "superseded";
  return observedAt < record.epochFirstObservedAt ? "superseded" : "newer";
}

/** P5 for an epoch that is unseen: should it become current after all, its sequences are not new by definition. */
export function noteUnseenEpoch(record: ChildRecord, epoch: string): ChildRecord {
  if (record.epochsForgotten || record.supersededEpochs.includes(epoch)) return record;
  return { ...record, epochsForgotten: true };
}

/**
 * The child as a new epoch finds it: its state stands, its sequence space and its source's promises start anew. Gaps of
 * the old epoch can no longer close: they are remembered as one, until the new epoch states where the child is.
 */
export function enterEpoch(record: ChildRecord, epoch: string, observedAt: number): ChildRecord {
  const superseded = [...record.supersededEpochs, record.epoch];
  return {
    ...record,
    epoch,
    epochFirstObservedAt: observedAt,
    epochHasState: false,
    supersededEpochs: superseded.slice(-MAX_SUPERSEDED_EPOCHS),
    epochsForgotten: record.epochsForgotten || superseded.length > MAX_SUPERSEDED_EPOCHS,
    capabilities: NO_CAPABILITIES,
    stateSequence: undefined,
    activitySequence: undefined,
    heartbeatSequence: undefined,
    highestSequence: undefined,
    gaps: NO_RANGES,
    gapsForgotten: false,
    epochGap: record.epochGap || record.gapsForgotten || record.gaps.length > 0,
  };
}

export function epochChanged(before: ChildRecord, epoch: string, at: number): AuditEntry {
  const { source, childId } = before;
  return { reason: "epoch_changed", source, childId, from: before.epoch, to: epoch, at };
}
