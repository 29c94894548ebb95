import { canonicalJson, isTerminal } from "@agent-lifecycle/proto";
import type { ChildRecord } from "../core/index.ts";
import type { LogBase, Store, StoredChild, StoredInput } from "../store/store.ts";
import { PartialProjection } from "./partial-projection.ts";

/** What one step of retention removed. */
export interface LogAdvance {
  /** Where the log begins now. */
  readonly inputId: number;
  readonly at: number;
  readonly inputs: number;
  /** Children that had ended and that no remaining input speaks of: nothing is stored about them any more. */
  readonly letGo: readonly ChildRecord[];
}

/** The stored projection is not what the inputs say. Nothing may be removed: the inputs are the evidence. */
class UnprovenLogError extends Error {
  constructor(finding: string) {
    super(`${finding}. Nothing was removed: run "agent-lifecycle verify"`);
    this.name = "UnprovenLogError";
  }
}

/**
 * Removes these inputs, the oldest of the log, within the store's open transaction. What they fold to becomes the base
 * that a replay begins with; ended children that no other input speaks of are let go. Live children stay whatever happens.
 * @param inputs in order, beginning with the first of the log; not empty, none newer than the checkpoint
 * @param now the log cannot begin later, whatever time a clock that was ahead has stamped on an input
 * @throws UnprovenLogError when an input folds to something else than was recorded, or a child is not what is stored.
 */
export function advanceLog(store: Store, inputs: readonly StoredInput[], now: number): LogAdvance {
  const base = store.loadBase();
  const partial = new PartialProjection({
    ...base,
    child: (source, childId) => store.baseChild(source, childId),
    childrenOf: (source) => store.baseChildren(source),
  });
  let inputId = base.inputId;
  let at = base.at ?? Number.NEGATIVE_INFINITY;
  for (const stored of inputs) {
    foldProven(partial, stored);
    inputId = stored.inputId;
    at = Math.max(at, Math.min(receivedAt(stored), now));
  }
  store.removeInputs(inputId);
  const letGo = letGoUnspoken(store, partial);
  store.moveBase({ ...beginningOf(partial, inputId, at), records: keptRecords(partial, letGo, inputId) });
  return { inputId, at, inputs: inputs.length, letGo };
}

/** When the collector got an input, or gave it to itself. Milliseconds since the epoch. */
export function receivedAt({ input }: StoredInput): number {
  return input.type === "event" || input.type === "snapshot" ? input.receivedAt : input.at;
}

function foldProven(partial: PartialProjection, { inputId, input, status, diagnostic }: StoredInput): void {
  const result = partial.fold(inputId, input);
  if (result.status === status && result.diagnostics[0]?.code === diagnostic) return;
  throw new UnprovenLogError(`input ${inputId} folds to ${result.status} and was recorded as ${status}`);
}

function beginningOf(partial: PartialProjection, inputId: number, at: number): LogBase {
  const { nextKey, resumption, changedEpochs } = partial;
  return { inputId, at, nextKey, resumption, snapshotEpochs: changedEpochs };
}

function letGoUnspoken(store: Store, partial: PartialProjection): readonly ChildRecord[] {
  const letGo: ChildRecord[] = [];
  for (const record of partial.spokenOf()) {
    if (!isTerminal(record.state) || store.isSpokenOf(record)) continue;
    const stored = store.loadChild(record.source, record.childId)?.record;
    if (stored === undefined || canonicalJson(stored) !== canonicalJson(record)) {
      throw new UnprovenLogError(`the stored record of child ${record.key} is not what its inputs fold to`);
    }
    store.letGo(record);
    letGo.push(record);
  }
  return letGo;
}

/** Every changed record is as of the newest removed input: a return of the collector before it is in it already. */
function* keptRecords(
  partial: PartialProjection,
  letGo: readonly ChildRecord[],
  updatedInputId: number,
): Generator<StoredChild> {
  const gone = new Set(letGo.map(({ key }) => key));
  for (const [key, record] of partial.changed()) {
    if (!gone.has(key)) yield { record, updatedInputId };
  }
}
