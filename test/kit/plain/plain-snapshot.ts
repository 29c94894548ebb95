import type { DiagnosticCode, LifecycleSnapshot, SnapshotEntry, State } from "@agent-lifecycle/proto";
import type { SnapshotPolicy } from "@agent-lifecycle/collector/projection";
import { createPlainChild, currentClaim, currentState, hasEnded, highestOf, type PlainChild, settle } from "./plain-child.ts";
import { timeOf } from "./plain-event.ts";

export interface SnapshotEffects {
  readonly diagnostics: DiagnosticCode[];
  readonly audit: { readonly childId: string; readonly from: string | null; readonly to: string }[];
}

/** A4, A5, A7 for one listed child. `known` is undefined for a child that nobody has heard of. */
export function applyEntry(
  known: PlainChild | undefined,
  entry: SnapshotEntry,
  snapshot: LifecycleSnapshot,
  receivedAt: number,
  effects: SnapshotEffects,
): PlainChild | undefined {
  const at = timeOf(snapshot.observedAt);
  if (known === undefined) return snapshot.complete ? discover(entry, snapshot, receivedAt, effects) : undefined;
  const isNewEpoch = snapshot.sourceEpoch !== known.epochs.at(-1);
  if (isNewEpoch && (known.epochs.includes(snapshot.sourceEpoch) || at < Math.min(...known.epochObserved))) {
    effects.diagnostics.push("epoch_conflict");
    return known;
  }
  const highest = highestOf(known);
  const claim = currentClaim(known);
  const isOutdated =
    (!isNewEpoch && entry.sequence !== undefined && highest !== undefined && entry.sequence < highest) ||
    (claim !== undefined && at < claim.at);
  if (isOutdated) {
    effects.diagnostics.push("snapshot_outdated");
    return known;
  }
  const isSame = currentState(known) === entry.state;
  if (!snapshot.complete) {
    if (isSame && !hasEnded(known) && !isNewEpoch) refresh(known, entry, at, receivedAt);
    return known;
  }
  if (hasEnded(known) && !isSame) {
    effects.diagnostics.push("terminal_immutable");
    return known;
  }
  if (isNewEpoch && !hasEnded(known)) {
    effects.audit.push({ childId: known.childId, from: known.epochs.at(-1) ?? "", to: snapshot.sourceEpoch });
    leaveEpoch(known, snapshot.sourceEpoch);
  }
  if (!isSame) correct(known, entry.state, at, effects);
  if (hasEnded(known) && isSame) {
    settle(known);
    return known;
  }
  if (entry.sequence !== undefined && !known.received.has(entry.sequence)) known.received.add(entry.sequence);
  refresh(known, entry, at, receivedAt);
  if (!isSame) known.progress.push(receivedAt);
  settle(known);
  known.epochHasState = true;
  const last = known.states.at(-1);
  if (last !== undefined) last.sequence = highestOf(known);
  return known;
}

function correct(child: PlainChild, to: State, at: number, effects: SnapshotEffects): void {
  const from = currentState(child) ?? null;
  effects.audit.push({ childId: child.childId, from, to });
  if (from !== null) child.corrections += 1;
  child.states.push({ state: to, at, sequence: undefined, evidence: "authoritative_snapshot" });
}

function discover(entry: SnapshotEntry, snapshot: LifecycleSnapshot, receivedAt: number, effects: SnapshotEffects): PlainChild {
  const { childId } = entry;
  const lineage = entry.lineage ?? { rootChildId: childId, attempt: 0, external: false };
  const child = createPlainChild(snapshot.source, childId, lineage, snapshot.sourceEpoch);
  child.lineageAssumed = entry.lineage === undefined;
  correct(child, entry.state, timeOf(snapshot.observedAt), effects);
  if (entry.sequence !== undefined) child.received.add(entry.sequence);
  refresh(child, entry, timeOf(snapshot.observedAt), receivedAt);
  child.progress.push(receivedAt);
  settle(child);
  child.epochHasState = true;
  const last = child.states.at(-1);
  if (last !== undefined) last.sequence = highestOf(child);
  return child;
}

function refresh(child: PlainChild, entry: SnapshotEntry, at: number, receivedAt: number): void {
  child.observed.push(at);
  child.epochObserved.push(at);
  child.evidence.push(receivedAt);
  child.stale = undefined;
  child.request = undefined;
  child.misses = 0;
  for (const name of ["history", "heartbeat", "snapshot", "cancel", "terminalCause"] as const) {
    if (entry.capabilities?.[name] === "known") child.capabilities[name] = true;
  }
  const last = child.activities.at(-1);
  if (entry.activity !== undefined && (last === undefined || at >= last.at)) {
    child.activities.push({ at, sequence: highestOf(child), text: entry.activity });
  }
}

function leaveEpoch(child: PlainChild, epoch: string): void {
  child.epochs.push(epoch);
  child.epochObserved = [];
  child.received = new Set();
  child.writtenOff = new Set();
  child.streamStart = 1;
  child.capabilities = {};
  for (const seen of [...child.states, ...child.activities, ...child.heartbeats]) seen.sequence = undefined;
}

/** A6. @returns whether the child has become stale. */
export function applyOmission(child: PlainChild, snapshot: LifecycleSnapshot, receivedAt: number, policy: SnapshotPolicy): boolean {
  if (currentState(child) === undefined || hasEnded(child)) return false;
  if (Math.min(...child.observed) >= timeOf(snapshot.observedAt)) return false;
  child.misses += 1;
  if (child.misses < policy.missingGrace || child.stale !== undefined) return false;
  child.stale = { since: receivedAt, reason: "snapshot_omission" };
  child.request = { requestedAt: receivedAt, deadline: receivedAt + policy.reconcileDeadlineMs };
  return true;
}
