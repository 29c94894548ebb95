import { isLegalEdge, type State, successorsOf } from "@agent-lifecycle/proto";

/**
 * The states from `from` (exclusive) to `to` (inclusive) on the shortest legal path. Empty when there is none, and when
 * the child is there already.
 */
export function legalPath(from: State, to: State): readonly State[] {
  if (from === to) return [];
  if (isLegalEdge(from, to)) return [to];
  // Nobody passes through an end on the way to anywhere, so the search is over states that go on.
  let paths: readonly (readonly State[])[] = successorsOf(from).map((state) => [state]);
  while (paths.length > 0) {
    const found = paths.find((path) => isLegalEdge(path.at(-1) as State, to));
    if (found !== undefined) return [...found, to];
    paths = paths.flatMap((path) =>
      path.length > MOST_STEPS
        ? []
        : successorsOf(path.at(-1) as State)
            .filter((state) => !path.includes(state))
            .map((state) => [...path, state]),
    );
  }
  return [];
}

/** No legal path is longer than the states that are no end. */
const MOST_STEPS = 4;
