import {
  type DiagnosticCode,
  isTerminal,
  type LifecycleSnapshot,
  mergeCapabilities,
  type ReservedDetails,
  type SnapshotEntry,
} from "@agent-lifecycle/proto";
import { learnFactsOfState } from "./child-facts.ts";
import { type ChildRecord, settled } from "./child-record.ts";
import { enterEpoch, epochChanged, relateEpoch } from "./epochs.ts";
import { type EvidenceTimes, evidenceReceived } from "./evidence.ts";
import type { AuditEntry, SnapshotPolicy } from "./input.ts";
import { compareLineage, learnLineage } from "./lineage.ts";
import { discoveredRecord } from "./new-record.ts";

/** A snapshot with its times worked out once. */
export interface SnapshotView {
  readonly snapshot: LifecycleSnapshot;
  readonly observedAt: number;
  readonly receivedAt: number;
  readonly policy: SnapshotPolicy;
}

export interface EntryFold {
  readonly record: ChildRecord | undefined;
  readonly diagnostic?: DiagnosticCode;
  readonly audit: readonly AuditEntry[];
}

const NO_AUDIT: readonly AuditEntry[] = [];

/** One listed child of a complete snapshot (A3 to A5). `key` numbers the child if the snapshot discovers it. */
export function foldEntry(
  known: ChildRecord | undefined,
  entry: SnapshotEntry,
  view: SnapshotView,
  key: number,
): EntryFold {
  if (known === undefined) return discover(entry, view, key);
  const epoch = relateEpoch(known, view.snapshot.sourceEpoch, view.observedAt);
  if (epoch === "superseded") return { record: known, diagnostic: "epoch_conflict", audit: NO_AUDIT };
  if (isOutdated(known, entry, view, epoch === "current")) {
    return { record: known, diagnostic: "snapshot_outdated", audit: NO_AUDIT };
  }
  if (entry.lineage !== undefined && compareLineage(known, entry.lineage) === "different") {
    const record = { ...known, conflicts: known.conflicts + 1 };
    return { record, diagnostic: "lineage_conflict", audit: NO_AUDIT };
  }
  if (isTerminal(known.state)) return againstTheEnd(known, entry);
  const entered = epoch === "newer" ? enterEpoch(known, view.snapshot.sourceEpoch, view.observedAt) : known;
  const epochAudit = epoch === "newer" ? [epochChanged(known, view.snapshot.sourceEpoch, view.receivedAt)] : NO_AUDIT;
  const present = vouchedFor(entered, entry, view);
  if (known.state === entry.state) return { record: confirmState(present, entry), audit: epochAudit };
  const corrected = correctState(present, entry, view, known.state !== undefined);
  return { record: corrected, audit: [...epochAudit, correctionEntry(known, entry, view)] };
}

/** A4: the child is known to be further than the entry. */
function isOutdated(record: ChildRecord, entry: SnapshotEntry, view: SnapshotView, sameEpoch: boolean): boolean {
  const behindSequence =
    sameEpoch &&
    entry.sequence !== undefined &&
    record.highestSequence !== undefined &&
    entry.sequence < record.highestSequence;
  return behindSequence || (record.stateAt !== undefined && view.observedAt < record.stateAt);
}

function discover(entry: SnapshotEntry, view: SnapshotView, key: number): EntryFold {
  const blank = discoveredRecord(key, view.snapshot, entry, view.observedAt, view.receivedAt);
  const record = correctState(vouchedFor(blank, entry, view), entry, view, false);
  return { record, audit: [correctionEntry(undefined, entry, view)] };
}

/** The end stands. An authority that agrees with it vouches for it; one that does not is refused (A5). */
function againstTheEnd(record: ChildRecord, entry: SnapshotEntry): EntryFold {
  return entry.state === record.state
    ? { record: settled(record), audit: NO_AUDIT }
    : { record, diagnostic: "terminal_immutable", audit: NO_AUDIT };
}

/** Being listed is evidence, and settles whatever was missing before (P14). */
function vouchedFor(record: ChildRecord, entry: SnapshotEntry, view: SnapshotView): ChildRecord {
  const seen = settled(evidenceReceived(record, timesOf(view), isNewActivity(record, entry, view)));
  const highestSequence = maximum(seen.highestSequence, entry.sequence);
  return {
    ...seen,
    highestSequence,
    stateSequence: highestSequence,
    epochHasState: true,
    capabilities:
      entry.capabilities === undefined ? seen.capabilities : mergeCapabilities(seen.capabilities, entry.capabilities),
    ...(entry.lineage === undefined
      ? undefined
      : { lineage: learnLineage(seen, entry.lineage), lineageAssumed: false }),
    ...listedActivity(record, entry, view, highestSequence),
  };
}

function timesOf(view: SnapshotView): EvidenceTimes {
  return { observedAt: view.observedAt, evidenceAt: view.receivedAt, isLive: true };
}

/** The activity that an entry states, unless a newer one is known. */
function listedActivity(
  record: ChildRecord,
  entry: SnapshotEntry,
  view: SnapshotView,
  activitySequence: number | undefined,
): Partial<ChildRecord> {
  if (entry.activity === undefined || isOlderActivity(record, entry, view)) return {};
  return { activity: entry.activity, activityAt: view.observedAt, activitySequence };
}

/** An activity that every snapshot repeats is no progress (P20). */
function isNewActivity(record: ChildRecord, entry: SnapshotEntry, view: SnapshotView): boolean {
  return entry.activity !== undefined && entry.activity !== record.activity && !isOlderActivity(record, entry, view);
}

/** An entry that states its sequence is as new as anything received; without one, the source's clock tells. */
function isOlderActivity(record: ChildRecord, entry: SnapshotEntry, view: SnapshotView): boolean {
  return entry.sequence === undefined && record.activityAt !== undefined && view.observedAt < record.activityAt;
}

function confirmState(record: ChildRecord, entry: SnapshotEntry): ChildRecord {
  if (entry.details === undefined) return record;
  const facts = learnFactsOfState(record.facts, { ...waitingStands(record), ...entry.details }, entry.state);
  return { ...record, facts };
}

/** A confirmation that does not say what the child waits on takes nothing back. */
function waitingStands(record: ChildRecord): Pick<ReservedDetails, "waitingOn"> {
  return record.facts?.waitingOn === undefined ? {} : { waitingOn: record.facts.waitingOn };
}

function correctState(record: ChildRecord, entry: SnapshotEntry, view: SnapshotView, counts: boolean): ChildRecord {
  return {
    ...record,
    state: entry.state,
    stateAt: view.observedAt,
    terminalEvidence: isTerminal(entry.state) ? "authoritative_snapshot" : undefined,
    stateFromSnapshot: true,
    lastProgressAt: Math.max(record.lastProgressAt, view.receivedAt),
    facts: learnFactsOfState(record.facts, entry.details, entry.state),
    corrections: record.corrections + (counts ? 1 : 0),
  };
}

function correctionEntry(known: ChildRecord | undefined, entry: SnapshotEntry, view: SnapshotView): AuditEntry {
  return {
    reason: "authoritative_snapshot",
    source: view.snapshot.source,
    childId: entry.childId,
    from: known?.state ?? null,
    to: entry.state,
    snapshotId: view.snapshot.snapshotId,
    at: view.receivedAt,
  };
}

/**
 * One child that a complete snapshot covers and does not list (A6): a miss, and after enough of them, stale. A view of
 * an epoch that the child has left behind proves nothing about it (A3).
 */
export function foldOmission(record: ChildRecord, view: SnapshotView): ChildRecord {
  const countsAsMiss =
    record.state !== undefined &&
    !isTerminal(record.state) &&
    record.firstObservedAt < view.observedAt &&
    relateEpoch(record, view.snapshot.sourceEpoch, view.observedAt) !== "superseded";
  if (!countsAsMiss) return record;
  const misses = record.misses + 1;
  if (misses < view.policy.missingGrace) return { ...record, misses };
  const deadline = view.receivedAt + view.policy.reconcileDeadlineMs;
  return {
    ...record,
    misses,
    stale: record.stale ?? { since: view.receivedAt, reason: "snapshot_omission" },
    reconciliation: record.reconciliation ?? { requestedAt: view.receivedAt, deadline },
  };
}

/** A7: an incomplete view may confirm a child in the state it has; it corrects nothing. */
export function foldPartialEntry(record: ChildRecord, entry: SnapshotEntry, view: SnapshotView): ChildRecord {
  const agrees =
    record.state === entry.state &&
    !isTerminal(record.state) &&
    relateEpoch(record, view.snapshot.sourceEpoch, view.observedAt) === "current" &&
    !isOutdated(record, entry, view, true);
  if (!agrees) return record;
  const seen = evidenceReceived(record, timesOf(view), isNewActivity(record, entry, view));
  return { ...seen, ...listedActivity(record, entry, view, seen.highestSequence) };
}

function maximum(first: number | undefined, second: number | undefined): number | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return Math.max(first, second);
}
