import { isTerminal } from "@agent-lifecycle/proto";
import {
  type ChildChange,
  type ChildRecord,
  childOf,
  countChange,
  countDeparture,
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
import type { LoadedCheckpoint, Store, StoredChild, StoredResumption } from "../store/store.ts";
import type { LogAdvance } from "./log-advance.ts";
import { asResumed } from "./partial-projection.ts";

/**
 * The projection in memory and what of it the store's checkpoint does not have yet. Live children are here; a child that
 * ended stays only until the next checkpoint and comes back when somebody speaks of it.
 */
export class ProjectionState {
  readonly projection: Projection = createProjection();
  readonly summary: Summary;
  readonly #store: Store;
  readonly #changed = new Map<number, StoredChild>();
  /** Ended children that somebody spoke of since the last `releaseRecalled`. */
  readonly #recalled = new Map<number, ChildRecord>();
  readonly #changedEpochs = new Map<string, SnapshotEpoch>();
  #resumption: StoredResumption | undefined;
  #lastInputId: number;
  #checkpointInputId: number;
  /** Whether a child that is not in memory may be in the store. */
  #mayHaveForgotten: boolean;
  #logBeginning: { readonly inputId: number; readonly at: number | undefined };

  /**
   * Loads the checkpoint and replays what was stored after it.
   * @throws StoreUnavailableError when what is to be loaded is damaged.
   */
  constructor(store: Store) {
    this.#store = store;
    const loaded = this.#readable(() => store.loadCheckpoint());
    this.summary = loaded.summary;
    this.#resumption = loaded.resumption;
    this.#mayHaveForgotten = loaded.summary.started > loaded.summary.live;
    this.#checkpointInputId = loaded.inputId;
    this.#lastInputId = loaded.inputId;
    this.#logBeginning = this.#readable(() => store.loadBase());
    this.#readable(() => this.#load(loaded));
  }

  #load({ inputId: checkpointInputId, liveChildren, resumption, nextKey, snapshotEpochs }: LoadedCheckpoint): void {
    for (const stored of liveChildren) restoreChild(this.projection, asResumed(stored, resumption));
    this.projection.nextKey = nextKey;
    for (const [source, epoch] of snapshotEpochs) restoreSnapshotEpoch(this.projection, source, epoch);
    for (const { inputId, input } of this.#store.inputs(checkpointInputId)) {
      this.recall(input);
      this.accept(inputId, input, fold(this.projection, input));
    }
    this.releaseRecalled();
  }

  #readable<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw this.#store.explainUnreadable(error) ?? error;
    }
  }

  get lastInputId(): number {
    return this.#lastInputId;
  }

  /** The newest input that the store's projection takes in. */
  get checkpointInputId(): number {
    return this.#checkpointInputId;
  }

  /** The newest input that retention removed; 0 when none ever was. */
  get removedInputId(): number {
    return this.#logBeginning.inputId;
  }

  /**
   * When the newest of the removed inputs was received, `undefined` when none ever was. A child that nothing is stored
   * about may have ended before, and been let go. Milliseconds since the epoch.
   */
  get logBeginsAt(): number | undefined {
    return this.#logBeginning.at;
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
    if (stored === undefined) return undefined;
    restoreChild(this.projection, stored);
    this.#recalled.set(stored.key, stored);
    return stored;
  }

  /**
   * Lets go of the recalled children that nothing has changed; the others go with the next checkpoint. Without this, a
   * flood of repeated old evidence, which changes nothing, would bring every ended child back to stay.
   */
  releaseRecalled(): void {
    for (const [key, record] of this.#recalled) {
      if (!this.#changed.has(key)) forgetChild(this.projection, record);
    }
    this.#recalled.clear();
  }

  /** Takes note of a fold whose input is stored. */
  accept(inputId: number, input: ProjectionInput, result: FoldResult): void {
    this.#lastInputId = inputId;
    if (input.type === "resumed") this.#resumption = { inputId, at: input.at };
    for (const change of result.changes) {
      countChange(this.summary, change);
      this.#noteChange(change.after, isVisible(input, change) ? inputId : undefined);
    }
    if (result.snapshotEpoch !== undefined) {
      this.#changedEpochs.set(result.snapshotEpoch.source, result.snapshotEpoch.after);
    }
  }

  /** @param inputId the input that changed more than the silence; without one, only what waits already is brought up to date */
  #noteChange(record: ChildRecord, inputId: number | undefined): void {
    const updatedInputId = inputId ?? this.#changed.get(record.key)?.updatedInputId;
    if (updatedInputId !== undefined) this.#changed.set(record.key, { record, updatedInputId });
  }

  /** Takes back folds whose inputs were not stored after all, the newest first. */
  undo(results: readonly FoldResult[]): void {
    for (const result of results.toReversed()) revert(this.projection, result);
    this.releaseRecalled();
  }

  /** Writes all changes into the store's open transaction; `checkpointed` is to be called once it is committed. */
  writeCheckpoint(): void {
    this.#store.checkpoint({
      inputId: this.#lastInputId,
      records: this.#changed.values(),
      snapshotEpochs: this.#changedEpochs,
      resumption: this.#resumption,
      nextKey: this.projection.nextKey,
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

  /** Takes note of a step of retention that is committed. Who was let go had left memory long before. */
  advanced({ inputId, at, letGo }: LogAdvance): void {
    this.#logBeginning = { inputId, at };
    for (const record of letGo) countDeparture(this.summary, record);
  }

  #stored(source: string, childId: string): ChildRecord | undefined {
    return this.#mayHaveForgotten ? this.#store.loadChild(source, childId)?.record : undefined;
  }
}

/** The changes that somebody can see. */
export function visibleChanges(input: ProjectionInput, { changes }: FoldResult): FoldResult["changes"] {
  return input.type === "resumed" ? changes.filter((change) => isVisible(input, change)) : changes;
}

/**
 * A return of the collector moves every silence: that is kept once, and not written or told for each child. Only the
 * questions that it asks anew are.
 */
function isVisible(input: ProjectionInput, { before, after }: ChildChange): boolean {
  return input.type !== "resumed" || before?.reconciliation !== after.reconciliation;
}
