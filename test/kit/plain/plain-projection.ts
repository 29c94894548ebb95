import type { FreshnessPolicy, SnapshotPolicy } from "@agent-lifecycle/collector/projection";
import {
  canonicalEvent,
  type DiagnosticCode,
  type LifecycleEvent,
  type LifecycleSnapshot,
} from "@agent-lifecycle/proto";
import {
  currentState,
  describePlainChild,
  hasEnded,
  lineageDiffers,
  type PlainChild,
  silentSince,
} from "./plain-child.ts";
import { type Arrival, judgeNextEvent, openChild, timeOf, type Verdict, verdict } from "./plain-event.ts";
import { applyEntry, applyOmission, applyPartialEntry, discover, type PlainAudit } from "./plain-snapshot.ts";

export interface PlainResult extends Verdict {
  readonly audit: readonly PlainAudit[];
}

/**
 * The contract's sections 3 to 5 a second time, as plainly as they can be written: no index, no queue, no incremental
 * bookkeeping. It judges the real projection in property tests, and it is never shipped.
 */
export class PlainProjection {
  readonly #policy: FreshnessPolicy & SnapshotPolicy;
  readonly #children: PlainChild[] = [];
  readonly #claims: LifecycleEvent[] = [];
  readonly #snapshots: { readonly source: string; readonly snapshotId: string }[] = [];
  readonly #snapshotEpochs: { readonly source: string; readonly epoch: string; readonly firstObservedAt: number }[] =
    [];

  constructor(policy: FreshnessPolicy & SnapshotPolicy) {
    this.#policy = policy;
  }

  describe(): readonly Readonly<Record<string, unknown>>[] {
    return this.#children.map(describePlainChild);
  }

  /** Rules P2 to P12 in their order; the event has passed P1. */
  takeEvent(arrival: Arrival): PlainResult {
    const { event } = arrival;
    const known = this.#find(event.source, event.childId);
    const claimed = this.#claims.find((claim) => isSameIdentity(claim, event));
    if (claimed !== undefined) {
      if (canonicalEvent(claimed) === canonicalEvent(event)) return withoutAudit(verdict("deduplicated"));
      if (known !== undefined) known.conflicts += 1;
      return withoutAudit(verdict("conflict", "identity_conflict"));
    }
    if (known !== undefined && !known.lineageAssumed && lineageDiffers(known.lineage, event.lineage)) {
      known.conflicts += 1;
      return withoutAudit(verdict("conflict", "lineage_conflict"));
    }
    this.#claims.push(event);
    const child = known ?? openChild(arrival);
    if (known === undefined) this.#children.push(child);
    const epochBefore = child.epochs.at(-1) ?? "";
    const judged = judgeNextEvent(child, arrival);
    const epochAfter = child.epochs.at(-1) ?? "";
    const audit = epochBefore === epochAfter ? [] : [{ childId: child.childId, from: epochBefore, to: epochAfter }];
    return { ...judged, audit };
  }

  takeSnapshot(snapshot: LifecycleSnapshot, receivedAt: number): PlainResult {
    const { source, snapshotId } = snapshot;
    if (this.#snapshots.some((seen) => seen.source === source && seen.snapshotId === snapshotId)) {
      return withoutAudit(verdict("deduplicated"));
    }
    this.#snapshots.push({ source, snapshotId });
    if (!snapshot.complete) {
      for (const entry of snapshot.children) {
        const child = this.#find(source, entry.childId);
        if (child !== undefined) applyPartialEntry(child, entry, snapshot, receivedAt);
      }
      return withoutAudit(verdict("applied", "snapshot_incomplete"));
    }
    if (!this.#enterSnapshotEpoch(snapshot)) return withoutAudit(verdict("out_of_order", "epoch_conflict"));
    const omitted = this.#children.filter((child) => child.source === source && isOmitted(child, snapshot));
    const diagnostics: DiagnosticCode[] = [];
    const audit: PlainAudit[] = [];
    for (const entry of snapshot.children) {
      const known = this.#find(source, entry.childId);
      if (known === undefined) {
        this.#children.push(discover(entry, snapshot, receivedAt));
        audit.push({ childId: entry.childId, from: null, to: entry.state });
        continue;
      }
      const effects = applyEntry(known, entry, snapshot, receivedAt);
      diagnostics.push(...effects.diagnostics);
      audit.push(...effects.audit);
    }
    for (const child of omitted) applyOmission(child, snapshot, receivedAt, this.#policy);
    return { status: "applied", diagnostics, audit };
  }

  /** S2: looks at every child. @returns who became stale, in no particular order. */
  tick(now: number): readonly string[] {
    const silent = this.#children.filter(
      (child) =>
        currentState(child) !== undefined &&
        !hasEnded(child) &&
        child.stale === undefined &&
        now - silentSince(child) >= this.#policy.staleAfterMs,
    );
    for (const child of silent) {
      child.stale = { since: now, reason: "deadline" };
      child.request = { requestedAt: now, deadline: now + this.#policy.reconcileDeadlineMs };
    }
    return silent.map(({ source, childId }) => JSON.stringify([source, childId]));
  }

  /** S4 and S5. */
  reconcile(source: string, childId: string, outcome: "failed" | "unavailable", at: number): PlainResult {
    const child = this.#find(source, childId);
    if (child === undefined) return withoutAudit(verdict("rejected", "unknown_child"));
    const from = currentState(child);
    if (hasEnded(child)) return withoutAudit(verdict("terminal_immutable"));
    if (child.request === undefined || from === undefined) return withoutAudit(verdict("deduplicated"));
    if (outcome === "unavailable") {
      child.request = undefined;
      return withoutAudit(verdict("applied"));
    }
    if (at < child.request.deadline) return withoutAudit(verdict("provisional", "reconciliation_pending"));
    child.states.push({
      state: "lost",
      at,
      sequence: child.received.size === 0 ? undefined : Math.max(...child.received),
      evidence: "failed_reconciliation",
    });
    child.stale = undefined;
    child.request = undefined;
    return { ...verdict("applied"), audit: [{ childId, from, to: "lost" }] };
  }

  /** S1. */
  resume(at: number): void {
    for (const child of this.#children) {
      if (hasEnded(child)) continue;
      if (child.stale === undefined) child.resumed.push(at);
      if (child.request !== undefined) {
        const wait = child.request.deadline - child.request.requestedAt;
        if (at > child.request.requestedAt) child.request = { requestedAt: at, deadline: at + wait };
      }
    }
  }

  #find(source: string, childId: string): PlainChild | undefined {
    return this.#children.find((child) => child.source === source && child.childId === childId);
  }

  /** A3, for the source as a whole. @returns false when the epoch was left behind. */
  #enterSnapshotEpoch({ source, sourceEpoch, observedAt }: LifecycleSnapshot): boolean {
    const epochs = this.#snapshotEpochs.filter((epoch) => epoch.source === source);
    const current = epochs.at(-1);
    if (current?.epoch === sourceEpoch) return true;
    const firstObservedAt = timeOf(observedAt);
    if (epochs.some(({ epoch }) => epoch === sourceEpoch)) return false;
    if (current !== undefined && firstObservedAt < current.firstObservedAt) return false;
    this.#snapshotEpochs.push({ source, epoch: sourceEpoch, firstObservedAt });
    return true;
  }
}

function isSameIdentity(first: LifecycleEvent, second: LifecycleEvent): boolean {
  if (first.source !== second.source || first.sequence !== second.sequence) return false;
  if (first.sequence === undefined) return first.eventId === second.eventId;
  return first.sourceEpoch === second.sourceEpoch && first.childId === second.childId;
}

function isOmitted(child: PlainChild, { coverage, children }: LifecycleSnapshot): boolean {
  const isCovered = coverage === "all" || coverage.includes(child.childId);
  return isCovered && !children.some(({ childId }) => childId === child.childId);
}

function withoutAudit(judged: Verdict): PlainResult {
  return { ...judged, audit: [] };
}
