import {
  intermediateSteps,
  isLegalEdge,
  isState,
  isTerminal,
  STATES,
  successorsOf,
  TERMINAL_STATES,
} from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";

// The edges of the contract, written a second time as it writes them.
const EDGES = `
  created → starting cancelled failed lost
  starting → running waiting cancelled failed lost
  running → waiting completed failed cancelled lost
  waiting → running completed failed cancelled lost`;

const legal = new Set(
  EDGES.trim()
    .split("\n")
    .flatMap((line) => {
      const [from, ...to] = line.trim().split(/ → | /);
      return to.map((state) => `${from}→${state}`);
    }),
);

describe("states", () => {
  test("exactly the contract's edges are legal", () => {
    for (const from of STATES) {
      for (const to of STATES) expect(isLegalEdge(from, to), `${from} → ${to}`).toBe(legal.has(`${from}→${to}`));
    }
    expect(legal.size).toBe(19);
  });

  test("a terminal state has no successor, every other state can end", () => {
    for (const state of STATES) {
      expect(isTerminal(state)).toBe((TERMINAL_STATES as readonly string[]).includes(state));
      expect(successorsOf(state).length === 0).toBe(isTerminal(state));
    }
    expect(isTerminal(undefined)).toBe(false);
  });

  test("intermediate steps are the shortest way through the edges", () => {
    for (const from of STATES) {
      for (const to of STATES) expect(intermediateSteps(from, to), `${from} → ${to}`).toBe(walk(from, to));
    }
    expect(intermediateSteps("created", "completed")).toBe(2);
    expect(intermediateSteps("running", "running")).toBe(1);
    expect(intermediateSteps("completed", "running")).toBeUndefined();
  });

  test("nothing but the eight names is a state", () => {
    for (const value of ["Running", "done", "", "toString", null, 3, undefined, {}]) expect(isState(value)).toBe(false);
    expect(STATES.every(isState)).toBe(true);
  });
});

/** The slow way: try every path of growing length. */
function walk(from: string, to: string): number | undefined {
  let paths = [[from]];
  for (let between = 0; between < STATES.length; between += 1) {
    paths = paths.flatMap((path) =>
      STATES.filter((next) => legal.has(`${path.at(-1)}→${next}`)).map((next) => [...path, next]),
    );
    if (paths.some((path) => path.at(-1) === to)) return between;
  }
  return undefined;
}
