import { once } from "node:events";
import type { Program } from "./program.ts";

/** Whole lines on standard error so far. */
export function errorLines(program: Program): readonly string[] {
  return program.output().stderr.split("\n").slice(0, -1);
}

/**
 * Resolves with the first line on standard error, after so many, that fulfils the predicate; rejects when the program
 * ends before.
 */
export async function errorLine(
  program: Program,
  predicate: (line: string) => boolean,
  skippedLines = 0,
): Promise<string> {
  for (;;) {
    const found = errorLines(program).slice(skippedLines).find(predicate);
    if (found !== undefined) return found;
    const ended = await Promise.race([
      once(program.process.stderr, "data").then(() => undefined),
      program.end.then((end) => end),
    ]);
    if (ended !== undefined && !errorLines(program).slice(skippedLines).some(predicate)) {
      throw new Error(`the program ended with ${ended.exitCode}, and never said so: ${ended.stderr.toString()}`);
    }
  }
}
