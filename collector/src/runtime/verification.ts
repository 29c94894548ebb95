import {
  childrenOf,
  createProjection,
  fold,
  type Projection,
  restoreChild,
  restoreSnapshotEpoch,
  serializeProjection,
} from "../core/index.ts";
import type { Store } from "../store/store.ts";
import { asResumed } from "./projection-state.ts";

export interface Verification {
  /** The store is what its inputs say: none of the findings below. */
  readonly agrees: boolean;
  readonly inputs: number;
  readonly children: number;
  /** Inputs of which the replay made something else than was recorded when they came in. */
  readonly differentOutcomes: number;
  /** Lines in which the stored projection and the replayed one differ; the first few in full. */
  readonly differences: readonly ProjectionDifference[];
  readonly differingLines: number;
  /** Ids of inputs that are not there: ids grow by one, so that a hole means that something was taken out. */
  readonly missingInputs: number;
  /** Children that listings and counts find by something else than their record says. */
  readonly misfiledChildren: number;
}

export interface ProjectionDifference {
  readonly stored: string | undefined;
  readonly replayed: string | undefined;
}

const MAX_DIFFERENCES = 10;

/**
 * Folds every stored input again from nothing and compares the result, byte for byte, with the projection that the store
 * would start from. Only reads; a collector may be writing meanwhile.
 */
export function verifyStore(store: Store): Verification {
  return store.consistently(() => {
    const replayed = replay(store);
    const stored = storedProjection(store);
    const comparison = compareLines(serializeProjection(stored), serializeProjection(replayed.projection));
    const newestInputId = Math.max(store.lastInputId(), store.loadCheckpoint().inputId);
    const findings = {
      differentOutcomes: replayed.differentOutcomes,
      missingInputs: newestInputId - replayed.inputs,
      misfiledChildren: [...store.misfiledChildren()].length,
      differingLines: comparison.differingLines,
    };
    return {
      agrees: Object.values(findings).every((count) => count === 0),
      inputs: replayed.inputs,
      children: [...childrenOf(replayed.projection)].length,
      ...findings,
      differences: comparison.differences,
    };
  });
}

/** The projection that all stored inputs fold to. */
export function replay(store: Store): {
  readonly projection: Projection;
  readonly inputs: number;
  readonly differentOutcomes: number;
} {
  const projection = createProjection();
  let inputs = 0;
  let differentOutcomes = 0;
  for (const { input, status, diagnostic } of store.inputs(0)) {
    const result = fold(projection, input);
    if (result.status !== status || result.diagnostics[0]?.code !== diagnostic) differentOutcomes += 1;
    inputs += 1;
  }
  return { projection, inputs, differentOutcomes };
}

/** The checkpoint, brought forward by the inputs after it: what a start would begin with. */
function storedProjection(store: Store): Projection {
  const projection = createProjection();
  const { inputId, snapshotEpochs, resumption } = store.loadCheckpoint();
  for (const stored of store.everyChild()) restoreChild(projection, asResumed(stored, resumption));
  for (const [source, epoch] of snapshotEpochs) restoreSnapshotEpoch(projection, source, epoch);
  for (const { input } of store.inputs(inputId)) fold(projection, input);
  return projection;
}

function compareLines(
  stored: Iterable<string>,
  replayed: Iterable<string>,
): Pick<Verification, "differences" | "differingLines"> {
  const storedLines = [...stored];
  const replayedLines = [...replayed];
  const inStored = new Set(storedLines);
  const inReplayed = new Set(replayedLines);
  const onlyStored = storedLines.filter((line) => !inReplayed.has(line));
  const onlyReplayed = replayedLines.filter((line) => !inStored.has(line));
  const differingLines = Math.max(onlyStored.length, onlyReplayed.length);
  const differences: ProjectionDifference[] = [];
  for (let index = 0; index < Math.min(differingLines, MAX_DIFFERENCES); index += 1) {
    differences.push({ stored: onlyStored[index], replayed: onlyReplayed[index] });
  }
  return { differences, differingLines };
}
