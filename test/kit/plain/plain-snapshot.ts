import type { SnapshotPolicy } from "@agent-lifecycle/collector/projection";
import type { DiagnosticCode, LifecycleSnapshot, SnapshotEntry } from "@agent-lifecycle/proto";
import {
  createPlainChild,
  currentClaim,
  currentState,
  hasEnded,
  highestOf,
  lineageDiffers,
  type PlainChild,
  settle,
} from "./plain-child.ts";
import { enterEpoch, learnCapabilities, learnLineage, timeOf } from "./plain-event.ts";

export interface PlainAudit {
  readonly childId: string;
  readonly from: string | null;
  readonly to: string;
}

/** What one entry did beside changing its child. */
export interface EntryEffects {
  readonly diagnostics: readonly DiagnosticCode[];
  readonly audit: readonly PlainAudit[];
}

const NOTHING: EntryEffects = { diagnostics: [], audit: [] };

/** A4 and A5 for a child that a complete snapshot lists. */
export function applyEntry(
  child: PlainChild,
  entry: SnapshotEntry,
  snapshot: LifecycleSnapshot,
  receivedAt: number,
): EntryEffects {
  const at = timeOf(snapshot.observedAt);
  if (isOfSupersededEpoch(child, snapshot)) return refusal("epoch_conflict");
  if (isOutdated(child, entry, snapshot)) return refusal("snapshot_outdated");
  if (entry.lineage !== undefined && !child.lineageAssumed && lineageDiffers(child.lineage, entry.lineage)) {
    child.conflicts += 1;
    return refusal("lineage_conflict");
  }
  const from = currentState(child);
  if (hasEnded(child)) {
    if (from !== entry.state) return refusal("terminal_immutable");
    settle(child);
    return NOTHING;
  }
  const audit: PlainAudit[] = [];
  const { childId } = child;
  const epoch = child.epochs.at(-1) ?? "";
  if (epoch !== snapshot.sourceEpoch) {
    audit.push({ childId, from: epoch, to: snapshot.sourceEpoch });
    enterEpoch(child, snapshot.sourceEpoch, at);
  }
  if (from !== entry.state) {
    audit.push({ childId, from: from ?? null, to: entry.state });
    if (from !== undefined) child.corrections += 1;
  }
  vouch(child, entry, at, receivedAt);
  return { diagnostics: [], audit };
}

/** A5 for a child that nobody has heard of. */
export function discover(entry: SnapshotEntry, snapshot: LifecycleSnapshot, receivedAt: number): PlainChild {
  const { childId } = entry;
  const lineage = entry.lineage ?? { rootChildId: childId, attempt: 0, external: false };
  const child = createPlainChild(snapshot.source, childId, lineage, snapshot.sourceEpoch);
  child.lineageAssumed = entry.lineage === undefined;
  vouch(child, entry, timeOf(snapshot.observedAt), receivedAt);
  return child;
}

/** Takes the word of an authority: the state, and that nothing before it is missing (P14). */
function vouch(child: PlainChild, entry: SnapshotEntry, at: number, receivedAt: number): void {
  if (entry.sequence !== undefined) child.received.add(entry.sequence);
  settle(child);
  refresh(child, entry, at, receivedAt);
  learnCapabilities(child, entry.capabilities);
  if (entry.lineage !== undefined) learnLineage(child, entry.lineage);
  const before = currentClaim(child);
  const sequence = highestOf(child);
  if (before?.state === entry.state) child.states.push({ ...before, sequence });
  else {
    child.states.push({ state: entry.state, at, sequence, evidence: "authoritative_snapshot" });
    child.progress.push(receivedAt);
  }
  child.epochHasState = true;
}

/** A7: an incomplete view may only confirm. */
export function applyPartialEntry(
  child: PlainChild,
  entry: SnapshotEntry,
  snapshot: LifecycleSnapshot,
  receivedAt: number,
): void {
  const isCurrent = child.epochs.at(-1) === snapshot.sourceEpoch;
  if (currentState(child) !== entry.state || hasEnded(child) || !isCurrent) return;
  if (!isOutdated(child, entry, snapshot)) refresh(child, entry, timeOf(snapshot.observedAt), receivedAt);
}

/** Being listed is live evidence. An activity that the authority merely repeats is no progress. */
function refresh(child: PlainChild, entry: SnapshotEntry, at: number, receivedAt: number): void {
  child.observed.push(at);
  child.epochObserved.push(at);
  child.evidence.push(receivedAt);
  child.stale = undefined;
  child.request = undefined;
  child.misses = 0;
  const last = child.activities.at(-1);
  if (entry.activity === undefined) return;
  if (entry.sequence === undefined && last !== undefined && at < last.at) return;
  if (entry.activity !== last?.text || child.progress.length === 0) child.progress.push(receivedAt);
  child.activities.push({ at, sequence: highestOf(child), text: entry.activity });
}

function isOfSupersededEpoch(child: PlainChild, snapshot: LifecycleSnapshot): boolean {
  if (snapshot.sourceEpoch === child.epochs.at(-1)) return false;
  return child.epochs.includes(snapshot.sourceEpoch) || timeOf(snapshot.observedAt) < Math.min(...child.epochObserved);
}

function isOutdated(child: PlainChild, entry: SnapshotEntry, snapshot: LifecycleSnapshot): boolean {
  const highest = highestOf(child);
  const claim = currentClaim(child);
  const isSameEpoch = snapshot.sourceEpoch === child.epochs.at(-1);
  const isBehind = isSameEpoch && entry.sequence !== undefined && highest !== undefined && entry.sequence < highest;
  return isBehind || (claim !== undefined && timeOf(snapshot.observedAt) < claim.at);
}

/** A6, for a covered child that a complete snapshot does not list. */
export function applyOmission(
  child: PlainChild,
  snapshot: LifecycleSnapshot,
  receivedAt: number,
  policy: SnapshotPolicy,
): void {
  if (currentState(child) === undefined || hasEnded(child) || isOfSupersededEpoch(child, snapshot)) return;
  if (Math.min(...child.observed) >= timeOf(snapshot.observedAt)) return;
  child.misses += 1;
  if (child.misses < policy.missingGrace) return;
  child.stale ??= { since: receivedAt, reason: "snapshot_omission" };
  child.request ??= { requestedAt: receivedAt, deadline: receivedAt + policy.reconcileDeadlineMs };
}

function refusal(code: DiagnosticCode): EntryEffects {
  return { diagnostics: [code], audit: [] };
}
