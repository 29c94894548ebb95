import { canonicalJson } from "@agent-lifecycle/proto";
import {
  type ChildRecord,
  childOf,
  childrenOf,
  createProjection,
  fold,
  forgetChild,
  type Projection,
  restoreChild,
  restoreSnapshotEpoch,
  type SnapshotEpoch,
  serializeSnapshotEpoch,
} from "../core/index.ts";
import type { Store } from "../store/store.ts";
import { asResumed, PartialProjection } from "./partial-projection.ts";

export interface Verification {
  /** The store is what its inputs say: none of the findings below. */
  readonly agrees: boolean;
  /** Stored inputs. */
  readonly inputs: number;
  /** The newest input that retention removed: the replay begins with what the inputs up to it had folded to. */
  readonly removedInputId: number;
  readonly children: number;
  /** Inputs of which the replay made something else than was recorded when they came in. */
  readonly differentOutcomes: number;
  /** Lines in which the stored projection and the replayed one differ; the first few in full. */
  readonly differences: readonly ProjectionDifference[];
  readonly differingLines: number;
  /** Ids of inputs that are not there: ids grow by one, so that a hole means that something was taken out. */
  readonly missingInputs: number;
  /** Children that listings, counts and replays find by something else than their record says. */
  readonly misfiledChildren: number;
}

export interface ProjectionDifference {
  readonly stored: string | undefined;
  readonly replayed: string | undefined;
}

const MAX_DIFFERENCES = 10;

/**
 * Folds every stored input again, from nothing or from the base that retention left, and compares the result, byte for
 * byte, with the projection that the store would start from. Only reads; a collector may be writing meanwhile. Holds the
 * replayed projection in memory, and of the stored one a child at a time.
 */
export function verifyStore(store: Store): Verification {
  return store.consistently(() => {
    const { inputId: removedInputId } = store.loadBase();
    const replayed = replay(store);
    const children = count(childrenOf(replayed.projection));
    const comparison = compareWithStored(store, replayed.projection);
    const newestInputId = Math.max(store.lastInputId(), store.loadCheckpoint().inputId);
    const findings = {
      differentOutcomes: replayed.differentOutcomes,
      missingInputs: newestInputId - removedInputId - replayed.inputs,
      misfiledChildren: count(store.misfiledChildren()) + count(store.misfiledBaseChildren()),
      differingLines: comparison.differingLines,
    };
    return {
      agrees: Object.values(findings).every((found) => found === 0),
      inputs: replayed.inputs,
      removedInputId,
      children,
      ...findings,
      differences: comparison.differences,
    };
  });
}

/** The projection that the base and all inputs after it fold to. */
export function replay(store: Store): {
  readonly projection: Projection;
  readonly inputs: number;
  readonly differentOutcomes: number;
} {
  const base = store.loadBase();
  const projection = createProjection();
  for (const stored of store.baseChildren()) restoreChild(projection, asResumed(stored, base.resumption));
  for (const [source, epoch] of base.snapshotEpochs) restoreSnapshotEpoch(projection, source, epoch);
  projection.nextKey = base.nextKey;
  let inputs = 0;
  let differentOutcomes = 0;
  for (const { input, status, diagnostic } of store.inputs(base.inputId)) {
    const result = fold(projection, input);
    if (result.status !== status || result.diagnostics[0]?.code !== diagnostic) differentOutcomes += 1;
    inputs += 1;
  }
  return { projection, inputs, differentOutcomes };
}

type Comparison = Pick<Verification, "differences" | "differingLines">;

/** Compares with the checkpoint, brought forward by the inputs after it. Uses `replayed` up. */
function compareWithStored(store: Store, replayed: Projection): Comparison {
  const checkpoint = store.loadCheckpoint();
  const forward = new PartialProjection({
    ...checkpoint,
    child: (source, childId) => store.loadChild(source, childId),
    childrenOf: (source) => store.everyChild(source),
  });
  for (const { inputId, input } of store.inputs(checkpoint.inputId)) forward.fold(inputId, input);
  const found = new Differences();
  for (const record of storedRecords(store, forward)) {
    const twin = childOf(replayed, record.source, record.childId);
    found.compare(canonicalJson(record), twin && canonicalJson(twin));
    if (twin !== undefined) forgetChild(replayed, twin);
  }
  for (const twin of childrenOf(replayed)) found.compare(undefined, canonicalJson(twin));
  compareEpochs(new Map([...checkpoint.snapshotEpochs, ...forward.changedEpochs]), replayed, found);
  found.compare(`next key ${forward.nextKey}`, `next key ${replayed.nextKey}`);
  return found;
}

/** Every record as a start would have it: in the order of the keys, then those of children newer than the checkpoint. */
function* storedRecords(store: Store, forward: PartialProjection): Generator<ChildRecord> {
  const changed = new Map(forward.changed());
  for (const stored of store.everyChild()) {
    const { key } = stored.record;
    yield changed.get(key) ?? asResumed(stored, forward.resumption);
    changed.delete(key);
  }
  yield* changed.values();
}

function compareEpochs(stored: ReadonlyMap<string, SnapshotEpoch>, { sources }: Projection, found: Differences): void {
  const line = (source: string, epoch: SnapshotEpoch | undefined): string | undefined =>
    epoch && `${JSON.stringify(source)} ${serializeSnapshotEpoch(epoch)}`;
  for (const source of new Set([...stored.keys(), ...sources.keys()])) {
    found.compare(line(source, stored.get(source)), line(source, sources.get(source)?.snapshotEpoch));
  }
}

class Differences implements Comparison {
  readonly differences: ProjectionDifference[] = [];
  differingLines = 0;

  compare(stored: string | undefined, replayed: string | undefined): void {
    if (stored === replayed) return;
    this.differingLines += 1;
    if (this.differences.length < MAX_DIFFERENCES) this.differences.push({ stored, replayed });
  }
}

function count(entries: Iterable<unknown>): number {
  let entered = 0;
  for (const _ of entries) entered += 1;
  return entered;
}
