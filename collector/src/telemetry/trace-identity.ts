import { createHash } from "node:crypto";

/** Which child something is about. */
export interface ChildIdentity {
  readonly source: string;
  readonly childId: string;
  readonly rootChildId: string;
}

/**
 * The trace that a child's spans belong to: one for each tree of children. Made from names alone, so that whoever knows a
 * child knows its trace, and what is exported again has the same ids again. 32 hexadecimal digits.
 */
export function traceIdOf({ source, rootChildId }: Pick<ChildIdentity, "source" | "rootChildId">): string {
  return digest(32, "trace", source, rootChildId);
}

/** The span of a child's whole life, which those of its states and of its children are below. 16 hexadecimal digits. */
export function rootSpanIdOf({ source, childId }: Pick<ChildIdentity, "source" | "childId">): string {
  return digest(16, "child", source, childId);
}

/** The span of one time that a child spent in a state, by the states and times at both of its ends. 16 hexadecimal digits. */
export function intervalSpanIdOf(
  { source, childId }: Pick<ChildIdentity, "source" | "childId">,
  interval: { readonly state: string; readonly since: number; readonly next: string; readonly until: number },
): string {
  const { state, since, next, until } = interval;
  return digest(16, "interval", source, childId, state, String(since), next, String(until));
}

/** A name for one record of an export: the same record has it again when it is sent again. 32 hexadecimal digits. */
export function recordUidOf(...parts: readonly string[]): string {
  return digest(32, "record", ...parts);
}

function digest(digits: number, ...parts: readonly string[]): string {
  const hash = createHash("sha256");
  // The length before each part: no two lists of parts are one text.
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest("hex").slice(0, digits);
}
