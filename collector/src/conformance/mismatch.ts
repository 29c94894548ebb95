import { canonicalJson } from "@agent-lifecycle/proto";

/** One difference between what a vector expects and what happened. */
export interface Mismatch {
  /** Where: `step 3: event`, or `final runner/child-1`. */
  readonly where: string;
  readonly member: string;
  /** Canonical JSON; `nothing` for an absent value. */
  readonly expected: string;
  readonly actual: string;
}

/** The members that differ. A member absent on either side is a value of its own. */
export function mismatchesOf(
  where: string,
  expected: Readonly<Record<string, unknown>>,
  actual: Readonly<Record<string, unknown>>,
): readonly Mismatch[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...names].flatMap((member) => {
    const mismatch = { where, member, expected: shown(expected[member]), actual: shown(actual[member]) };
    return mismatch.expected === mismatch.actual ? [] : [mismatch];
  });
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : canonicalJson(value);
}
