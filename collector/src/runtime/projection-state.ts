import { isTerminal } from "@agent-lifecycle/proto";
import {
  type ChildRecord,
  childOf,
  countChange,
  createProjection,
  type FoldResult,
  fold,
  forgetChild,
  type Projection,
  type ProjectionInput,
  restoreChild,
  restoreSnapshotEpoch,
  revert,
  type SnapshotEpoch,
  type Summary,
} from "../core/index.ts";
import type { Store } from "../store/store.ts";

interface ChangedRecord {
  readonly record: ChildRecord;
  readonly updatedInputId: number;
}

/**
 * The projection in memory and what of it the store's checkpoint does not have yet. Live children are here; a child that
 * ended stays only until the next checkpoint and comes back when somebody speaks of it.
 */
export class ProjectionState {
  readonly projection: Projection = createProjection();
  readonly summary: Summary;
  readonly #store: Store;
  readonly #changed = new Map<number, ChangedRecord>();
  readonly #changedEpochs = new Map<string, SnapshotEpoch>();
  #lastInputId: number;
  #checkpointInputId: number;
  /** Whether a child that is not in memory may be in the store. */
  #mayHaveForgotten: boolean;

  /** Loads the checkpoint and replays what was stored after it. */
  constructor(store: Store) {
    this.#store = store;
    const loaded = store.loadCheckpoint();
    this.summary = loaded.summary;
    for (const record of loaded.liveChildren) restoreChild(this.projection, record);
    this.projection.nextKey = loaded.nextKey;
    for (const [source, epoch] of loaded.snapshotEpochs) restoreSnapshotEpoch(this.projection, source, epoch);
    this.#mayHaveForgotten = loaded.summary.started > loaded.summary.live;
    this.#checkpointInputId = loaded.inputId;
    this.#lastInputId = loaded.inputId;
    for (const { inputId, input } of store.inputs(loaded.inputId)) {
      this.recall(input);
      this.accept(inputId, fold(this.projection, input));
    }
  }

  get lastInputId(): number {
    return this.#lastInputId;
  }

  /** Inputs that a restart would have to replay. */
  get uncheckpointedInputs(): number {
    return this.#lastInputId - this.#checkpointInputId;
  }

  child(source: string, childId: string): ChildRecord | undefined {
    return childOf(this.projection, source, childId) ?? this.#stored(source, childId);
  }

  /** Brings back every child an input speaks of, so that the fold meets its record. */
  recall(input: ProjectionInput): void {
    if (!this.#mayHaveForgotten) return;
    switch (input.type) {
      case "event":
        this.recallChild(input.event.source, input.event.childId);
        return;
      case "snapshot":
        for (const entry of input.snapshot.children) this.recallChild(input.snapshot.source, entry.childId);
        return;
      case "stale":
      case "reconciliation":
        this.recallChild(input.source, input.childId);
        return;
      case "resumed":
        return;
    }
  }

  recallChild(source: string, childId: string): ChildRecord | undefined {
    const inMemory = childOf(this.projection, source, childId);
    if (inMemory !== undefined || !this.#mayHaveForgotten) return inMemory;
    const stored = this.#stored(source, childId);
    if (stored !== undefined) restoreChild(this.projection, stored);
    return stored;
  }

  /** Takes note of a fold whose input is stored. */
  accept(inputId: number, result: FoldResult): void {
    this.#lastInputId = inputId;
    for (const change of result.changes) {
      countChange(this.summary, change);
      this.#changed.set(change.after.key, { record: change.after, updatedInputId: inputId });
    }
    if (result.snapshotEpoch !== undefined) {
      this.#changedEpochs.set(result.snapshotEpoch.source, result.snapshotEpoch.after);
    }
  }

  /** Takes back folds whose inputs were not stored after all, the newest first. */
  undo(results: readonly FoldResult[]): void {
    for (const result of results.toReversed()) revert(this.projection, result);
  }

  /** Writes all changes into the store's open transaction; `checkpointed` is to be called once it is committed. */
  writeCheckpoint(): void {
    this.#store.checkpoint({
      inputId: this.#lastInputId,
      records: this.#changed.values(),
      snapshotEpochs: this.#changedEpochs,
    });
  }

  checkpointed(): void {
    for (const { record } of this.#changed.values()) {
      if (!isTerminal(record.state)) continue;
      forgetChild(this.projection, record);
      this.#mayHaveForgotten = true;
    }
    this.#changed.clear();
    this.#changedEpochs.clear();
    this.#checkpointInputId = this.#lastInputId;
  }

  #stored(source: string, childId: string): ChildRecord | undefined {
    return this.#mayHaveForgotten ? this.#store.loadChild(source, childId) : undefined;
  }
}
