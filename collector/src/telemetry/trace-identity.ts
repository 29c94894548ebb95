import { createHash } from "node:crypto";

/**
 * The trace that a child's spans belong to: one for each tree of children. Made from names alone, so that whoever knows a
 * child knows its trace, and what is exported again has the same ids again. 32 hexadecimal digits.
 */
export function traceIdOf({ source, rootChildId }: { readonly source: string; readonly rootChildId: string }): string {
  return digest(32, "trace", source, rootChildId);
}

function digest(digits: number, ...parts: readonly string[]): string {
  const hash = createHash("sha256");
  // The length before each part: no two lists of parts are one text.
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest("hex").slice(0, digits);
}
