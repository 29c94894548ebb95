import type { ProblemList } from "./configuration-problem.ts";

export interface Range {
  readonly least: number;
  readonly most: number;
}

/** A place a number may be stated: an option (a number) or an environment variable (its text). */
export interface StatedNumber {
  readonly path: string;
  readonly value: unknown;
}

/**
 * The first stated integer within the range. A stated one that is not is reported and passed over. Option values must
 * be numbers; texts come from the environment.
 */
export function resolveNumber(
  stated: readonly StatedNumber[],
  range: Range,
  fallback: number,
  problems: ProblemList,
): number {
  for (const { path, value } of stated) {
    if (value === undefined || (typeof value === "string" && value.trim() === "")) continue;
    const number = typeof value === "string" ? Number(value.trim()) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= range.least && number <= range.most)
      return number;
    problems.add(path, `must be a whole number from ${range.least} to ${range.most}`);
  }
  return fallback;
}
