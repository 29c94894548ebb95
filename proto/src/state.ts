/**
 * The eight states of a child and the legal edges between them (contract section 1).
 *
 * created    the child exists as an intention; nothing has started it yet
 * starting   something is bringing it up; it has not shown work
 * running    it works
 * waiting    it is alive and blocked on somebody or something
 * completed, failed, cancelled, lost   it ended; nothing changes these any more
 */
export const STATES = [
  "created",
  "starting",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "lost",
] as const;

export type State = (typeof STATES)[number];

export const TERMINAL_STATES = ["completed", "failed", "cancelled", "lost"] as const;

export type TerminalState = (typeof TERMINAL_STATES)[number];

const SUCCESSORS: Readonly<Record<State, readonly State[]>> = {
  created: ["starting", "cancelled", "failed", "lost"],
  starting: ["running", "waiting", "cancelled", "failed", "lost"],
  running: ["waiting", "completed", "failed", "cancelled", "lost"],
  waiting: ["running", "completed", "failed", "cancelled", "lost"],
  completed: [],
  failed: [],
  cancelled: [],
  lost: [],
};

export function isState(value: unknown): value is State {
  return typeof value === "string" && (STATES as readonly string[]).includes(value);
}

export function isTerminal(state: State | undefined): state is TerminalState {
  return state === "completed" || state === "failed" || state === "cancelled" || state === "lost";
}

export function isLegalEdge(from: State, to: State): boolean {
  return SUCCESSORS[from].includes(to);
}

/** The states that `from` may legally become next. */
export function successorsOf(from: State): readonly State[] {
  return SUCCESSORS[from];
}

/**
 * How many states lie strictly between `from` and `to` on the shortest legal path: 0 for a legal edge,
 * `undefined` when no legal path exists. A state reached again (`running → running`) counts its shortest cycle.
 */
export function intermediateSteps(from: State, to: State): number | undefined {
  return SHORTEST_PATHS[from][to];
}

const SHORTEST_PATHS: Readonly<Record<State, Readonly<Partial<Record<State, number>>>>> = Object.fromEntries(
  STATES.map((from) => [from, shortestPathsFrom(from)]),
) as Record<State, Partial<Record<State, number>>>;

function shortestPathsFrom(from: State): Partial<Record<State, number>> {
  const distances: Partial<Record<State, number>> = {};
  let frontier: readonly State[] = SUCCESSORS[from];
  for (let between = 0; frontier.length > 0; between += 1) {
    const reached = [...new Set(frontier)].filter((state) => distances[state] === undefined);
    for (const state of reached) distances[state] = between;
    frontier = reached.flatMap((state) => SUCCESSORS[state]);
  }
  return distances;
}
