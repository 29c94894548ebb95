import { type LifecycleEvent, parseTimestamp } from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";
import { foldEvent } from "./fold-event.ts";
import { foldReconciliation, foldResumed, foldStale, type VerdictFold } from "./fold-freshness.ts";
import { foldEntry, foldOmission, foldPartialEntry, type SnapshotView } from "./fold-snapshot.ts";
import type {
  AuditEntry,
  ChildChange,
  EventInput,
  FoldResult,
  InputStatus,
  ProjectionDiagnostic,
  ProjectionInput,
  ResumedInput,
  SnapshotEpoch,
  SnapshotInput,
} from "./input.ts";

/** A source and its children. */
export interface SourceRecord {
  readonly source: string;
  readonly children: Map<string, ChildRecord>;
  snapshotEpoch: SnapshotEpoch | undefined;
}

/**
 * The state of everything: folded from inputs and from nothing else. It is the one thing here that changes; the records
 * in it are values.
 */
export interface Projection {
  readonly sources: Map<string, SourceRecord>;
  /** Key of the next child to appear. */
  nextKey: number;
}

export function createProjection(): Projection {
  return { sources: new Map(), nextKey: 0 };
}

export function childOf(projection: Projection, source: string, childId: string): ChildRecord | undefined {
  return projection.sources.get(source)?.children.get(childId);
}

/** Puts a stored record in its place, as it was. */
export function restoreChild(projection: Projection, record: ChildRecord): void {
  sourceOf(projection, record.source).children.set(record.childId, record);
  projection.nextKey = Math.max(projection.nextKey, record.key + 1);
}

/** Puts a source's stored snapshot epoch in its place, as it was. */
export function restoreSnapshotEpoch(projection: Projection, source: string, epoch: SnapshotEpoch): void {
  sourceOf(projection, source).snapshotEpoch = epoch;
}

/** Every record, in no particular order. */
export function* childrenOf(projection: Projection): Generator<ChildRecord> {
  for (const source of projection.sources.values()) yield* source.children.values();
}

/**
 * Applies one input (contract sections 3 to 5). Deterministic: the same inputs in the same order give the same
 * projection, byte for byte. Reads no clock; every time is in the input.
 */
export function fold(projection: Projection, input: ProjectionInput): FoldResult {
  switch (input.type) {
    case "event":
      return applyEvent(projection, input);
    case "snapshot":
      return applySnapshot(projection, input);
    case "stale":
      return applyVerdict(
        projection,
        input.childId,
        foldStale(childOf(projection, input.source, input.childId), input),
      );
    case "reconciliation":
      return applyVerdict(
        projection,
        input.childId,
        foldReconciliation(childOf(projection, input.source, input.childId), input),
      );
    case "resumed":
      return applyResumed(projection, input);
  }
}

/**
 * Takes back what the newest `fold` did, as if it had never been: for the shell whose store refused the input. Only the
 * newest result can be taken back, then the one before it.
 */
export function revert(projection: Projection, result: FoldResult): void {
  for (const { before, after } of result.changes.toReversed()) {
    const { children } = sourceOf(projection, after.source);
    if (before !== undefined) children.set(after.childId, before);
    else {
      children.delete(after.childId);
      projection.nextKey = after.key;
    }
  }
  if (result.snapshotEpoch !== undefined) {
    const { source, before } = result.snapshotEpoch;
    sourceOf(projection, source).snapshotEpoch = before;
  }
}

/** Lets go of a record that the shell has stored; `restoreChild` brings it back when somebody speaks of the child. */
export function forgetChild(projection: Projection, record: ChildRecord): void {
  projection.sources.get(record.source)?.children.delete(record.childId);
}

function sourceOf(projection: Projection, source: string): SourceRecord {
  const known = projection.sources.get(source);
  if (known !== undefined) return known;
  const added: SourceRecord = { source, children: new Map(), snapshotEpoch: undefined };
  projection.sources.set(source, added);
  return added;
}

const NO_DIAGNOSTICS: readonly ProjectionDiagnostic[] = [];
const NO_CHANGES: readonly ChildChange[] = [];
const NO_AUDIT: readonly AuditEntry[] = [];

function applyEvent(projection: Projection, input: EventInput): FoldResult {
  const event: LifecycleEvent = input.event;
  const before = childOf(projection, event.source, event.childId);
  const { status, diagnostic, record, audit } = foldEvent(before, input, projection.nextKey);
  return {
    status,
    diagnostics: diagnostic === undefined ? NO_DIAGNOSTICS : [{ code: diagnostic, childId: event.childId }],
    changes: record === undefined || record === before ? NO_CHANGES : [put(projection, before, record)],
    audit: audit === undefined ? NO_AUDIT : [audit],
  };
}

function applyVerdict(projection: Projection, childId: string, verdict: VerdictFold): FoldResult {
  const { status, diagnostic, record, audit } = verdict;
  const before = record === undefined ? undefined : childOf(projection, record.source, childId);
  return {
    status,
    diagnostics: diagnostic === undefined ? NO_DIAGNOSTICS : [{ code: diagnostic, childId }],
    changes: record === undefined || record === before ? NO_CHANGES : [put(projection, before, record)],
    audit: audit === undefined ? NO_AUDIT : [audit],
  };
}

function applyResumed(projection: Projection, input: ResumedInput): FoldResult {
  const changes: ChildChange[] = [];
  for (const before of childrenOf(projection)) {
    const after = foldResumed(before, input.at);
    if (after !== before) changes.push(put(projection, before, after));
  }
  return { status: "applied", diagnostics: NO_DIAGNOSTICS, changes, audit: NO_AUDIT };
}

function put(projection: Projection, before: ChildRecord | undefined, after: ChildRecord): ChildChange {
  const { children } = sourceOf(projection, after.source);
  children.set(after.childId, after);
  if (before === undefined) projection.nextKey = after.key + 1;
  return { before, after };
}

function applySnapshot(projection: Projection, input: SnapshotInput): FoldResult {
  if (input.identity !== "new") return snapshotResult("deduplicated");
  const { snapshot, receivedAt, policy } = input;
  const observedAt = parseTimestamp(snapshot.observedAt) as number;
  const view: SnapshotView = { snapshot, observedAt, receivedAt, policy };
  if (!snapshot.complete) return applyPartialSnapshot(projection, view);
  const source = sourceOf(projection, snapshot.source);
  const epoch = enterSnapshotEpoch(source.snapshotEpoch, snapshot.sourceEpoch, observedAt);
  if (epoch === "superseded") return snapshotResult("out_of_order", [{ code: "epoch_conflict", childId: "" }]);
  const before = source.snapshotEpoch;
  source.snapshotEpoch = epoch;
  const diagnostics: ProjectionDiagnostic[] = [];
  const changes: ChildChange[] = [];
  const audit: AuditEntry[] = [];
  for (const entry of snapshot.children) {
    const known = source.children.get(entry.childId);
    const result = foldEntry(known, entry, view, projection.nextKey);
    if (result.diagnostic !== undefined) diagnostics.push({ code: result.diagnostic, childId: entry.childId });
    if (result.record !== undefined && result.record !== known) changes.push(put(projection, known, result.record));
    audit.push(...result.audit);
  }
  for (const omitted of omittedChildren(source, view)) {
    const after = foldOmission(omitted, view);
    if (after !== omitted) changes.push(put(projection, omitted, after));
  }
  const result: FoldResult = { status: "applied", diagnostics, changes, audit };
  return epoch === before ? result : { ...result, snapshotEpoch: { source: snapshot.source, before, after: epoch } };
}

function applyPartialSnapshot(projection: Projection, view: SnapshotView): FoldResult {
  const changes: ChildChange[] = [];
  for (const entry of view.snapshot.children) {
    const before = childOf(projection, view.snapshot.source, entry.childId);
    if (before === undefined) continue;
    const after = foldPartialEntry(before, entry, view);
    if (after !== before) changes.push(put(projection, before, after));
  }
  return { status: "applied", diagnostics: [{ code: "snapshot_incomplete", childId: "" }], changes, audit: NO_AUDIT };
}

function omittedChildren(source: SourceRecord, { snapshot }: SnapshotView): readonly ChildRecord[] {
  const listed = new Set(snapshot.children.map((entry) => entry.childId));
  const covered =
    snapshot.coverage === "all"
      ? [...source.children.values()]
      : snapshot.coverage.flatMap((childId) => source.children.get(childId) ?? []);
  return covered.filter((record) => !listed.has(record.childId));
}

const MAX_SUPERSEDED_SNAPSHOT_EPOCHS = 16;

/** A3, for the source as a whole: the current epoch is used, an unseen newer one takes over, a superseded one is refused. */
function enterSnapshotEpoch(
  known: SnapshotEpoch | undefined,
  epoch: string,
  observedAt: number,
): SnapshotEpoch | "superseded" {
  if (known === undefined) return { current: epoch, firstObservedAt: observedAt, superseded: [] };
  if (known.current === epoch) return known;
  if (known.superseded.includes(epoch) || observedAt < known.firstObservedAt) return "superseded";
  const superseded = [...known.superseded, known.current].slice(-MAX_SUPERSEDED_SNAPSHOT_EPOCHS);
  return { current: epoch, firstObservedAt: observedAt, superseded };
}

function snapshotResult(
  status: InputStatus,
  diagnostics: readonly ProjectionDiagnostic[] = NO_DIAGNOSTICS,
): FoldResult {
  return { status, diagnostics, changes: NO_CHANGES, audit: NO_AUDIT };
}
