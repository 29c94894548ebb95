import type { SeededRandom } from "../kit/seeded-random.ts";

/** Judges one input after the other. Throws when an input shows something to be wrong. */
export type Judge = (random: SeededRandom) => void | Promise<void>;

/** One decoder, or several that must agree. */
export interface FuzzTarget {
  readonly name: string;
  /** Share of the inputs of a run. */
  readonly weight: number;
  /** Called once, before the first input. What it opens is disposed of after the last one. */
  open(): Promise<OpenTarget>;
}

export interface OpenTarget {
  readonly judge: Judge;
  /** What may be held of all inputs together when they were judged. Absent where evidence is kept. */
  readonly maxHeldBytes?: number;
  /** What can only be seen when all inputs were judged. Throws when it is wrong. */
  close(): Promise<void>;
}

/** Compiled code and caches of the engine; what an input leaves behind is multiplied by thousands. */
const MAX_HELD_BYTES = 24 * 1024 * 1024;

/** A target that is a function and needs nothing. */
export function pureTarget(name: string, weight: number, judge: Judge): FuzzTarget {
  return { name, weight, open: async () => ({ judge, maxHeldBytes: MAX_HELD_BYTES, close: async () => {} }) };
}

class Violation extends Error {}

export function expectThat(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Violation(what);
}

/** More than anybody is told about one broken input. */
export const MAX_PROBLEM_LENGTH = 2_000;

export function one<Value>(random: SeededRandom, values: readonly Value[]): Value {
  return values[random.below(values.length)] as Value;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
