import type { Store } from "../store/store.ts";
import type { ProjectionReader } from "./projection-reader.ts";
import type { ProjectionState } from "./projection-state.ts";

/**
 * Reads through the store, which `bringUpToDate` first makes hold everything that was acknowledged. When the store takes
 * no writes, readers still get its last checkpoint: old facts, with their times, beat none.
 */
export function createCurrentReader(
  store: Store,
  state: ProjectionState,
  bringUpToDate: () => boolean,
): ProjectionReader {
  const current = (): Store => {
    bringUpToDate();
    return store;
  };
  return {
    summary: () => state.summary,
    child: (source, childId) => state.child(source, childId),
    children: (query) => current().children(query),
    childrenChangedSince: (inputId, limit) => current().childrenChangedSince(inputId, limit),
    inputsOfChild: (childKey, afterInputId, limit) => store.inputsOfChild(childKey, afterInputId, limit),
    audit: (query) => store.audit(query),
    diagnostics: (query) => store.diagnostics(query),
    sources: () => current().sources(),
    lastInputId: () => state.lastInputId,
    listingPosition: () => (bringUpToDate() ? state.lastInputId : state.checkpointInputId),
  };
}
