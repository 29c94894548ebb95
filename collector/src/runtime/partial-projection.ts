import {
  type ChildRecord,
  childOf,
  createProjection,
  type FoldResult,
  fold,
  foldResumed,
  type Projection,
  type ProjectionInput,
  restoreChild,
  restoreSnapshotEpoch,
  type SnapshotEpoch,
} from "../core/index.ts";
import type { StoredChild, StoredResumption } from "../store/store.ts";

/** A stored projection that inputs are folded onto. */
export interface ProjectionOrigin {
  readonly nextKey: number;
  readonly resumption: StoredResumption | undefined;
  readonly snapshotEpochs: ReadonlyMap<string, SnapshotEpoch>;
  child(source: string, childId: string): StoredChild | undefined;
  childrenOf(source: string): Iterable<StoredChild>;
}

/**
 * A stored projection brought forward by some inputs, with only those children in memory that the inputs speak of. A
 * return of the collector is kept once, as in the store: it moves the records that are here, and those that come later.
 */
export class PartialProjection {
  readonly #origin: ProjectionOrigin;
  readonly #projection: Projection = createProjection();
  readonly #changed = new Map<number, ChildRecord>();
  readonly #changedEpochs = new Map<string, SnapshotEpoch>();
  readonly #named = new Map<string, Set<string>>();
  readonly #wholeSources = new Set<string>();
  #resumption: StoredResumption | undefined;

  constructor(origin: ProjectionOrigin) {
    this.#origin = origin;
    this.#projection.nextKey = origin.nextKey;
    this.#resumption = origin.resumption;
    for (const [source, epoch] of origin.snapshotEpochs) restoreSnapshotEpoch(this.#projection, source, epoch);
  }

  get nextKey(): number {
    return this.#projection.nextKey;
  }

  /** The newest return of the collector; it is already in the records that changed. */
  get resumption(): StoredResumption | undefined {
    return this.#resumption;
  }

  get changedEpochs(): ReadonlyMap<string, SnapshotEpoch> {
    return this.#changedEpochs;
  }

  fold(inputId: number, input: ProjectionInput): FoldResult {
    this.#fetch(input);
    const result = fold(this.#projection, input);
    if (result.snapshotEpoch !== undefined) {
      this.#changedEpochs.set(result.snapshotEpoch.source, result.snapshotEpoch.after);
    }
    if (input.type === "resumed") this.#resumption = { inputId, at: input.at };
    for (const { after } of result.changes) {
      if (input.type !== "resumed" || this.#changed.has(after.key)) this.#changed.set(after.key, after);
    }
    return result;
  }

  /** The records that an input changed by more than a return of the collector, by key. */
  changed(): ReadonlyMap<number, ChildRecord> {
    return this.#changed;
  }

  /** The children that an input named, as they are now. */
  *spokenOf(): Generator<ChildRecord> {
    for (const [source, childIds] of this.#named) {
      for (const childId of childIds) {
        const record = childOf(this.#projection, source, childId);
        if (record !== undefined) yield record;
      }
    }
  }

  #fetch(input: ProjectionInput): void {
    switch (input.type) {
      case "event":
        this.#fetchChild(input.event.source, input.event.childId);
        return;
      case "snapshot": {
        const { source, children, complete, coverage } = input.snapshot;
        for (const { childId } of children) this.#fetchChild(source, childId);
        if (!complete) return;
        if (coverage === "all") this.#fetchSource(source);
        else for (const childId of coverage) this.#fetchChild(source, childId);
        return;
      }
      case "stale":
      case "reconciliation":
        this.#fetchChild(input.source, input.childId);
        return;
      case "resumed":
        return;
    }
  }

  #fetchChild(source: string, childId: string): void {
    const named = this.#named.get(source) ?? new Set();
    this.#named.set(source, named);
    if (named.has(childId)) return;
    named.add(childId);
    if (childOf(this.#projection, source, childId) !== undefined) return;
    const stored = this.#origin.child(source, childId);
    if (stored !== undefined) restoreChild(this.#projection, asResumed(stored, this.#resumption));
  }

  /** A snapshot that covers all children of a source speaks of those too that it omits (A6). */
  #fetchSource(source: string): void {
    if (this.#wholeSources.has(source)) return;
    this.#wholeSources.add(source);
    for (const stored of this.#origin.childrenOf(source)) {
      if (childOf(this.#projection, source, stored.record.childId) !== undefined) continue;
      restoreChild(this.#projection, asResumed(stored, this.#resumption));
    }
  }
}

/** A stored record as it is since the collector's newest return, unless a later input has changed it. */
export function asResumed(
  { record, updatedInputId }: StoredChild,
  resumption: StoredResumption | undefined,
): ChildRecord {
  return resumption === undefined || updatedInputId >= resumption.inputId ? record : foldResumed(record, resumption.at);
}
