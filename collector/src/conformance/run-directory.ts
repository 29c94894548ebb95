import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Mismatch } from "./mismatch.ts";
import { parseVector } from "./parse-vector.ts";
import { runVector } from "./run-vector.ts";

/** What became of one vector file. `unreadable`: it is no vector, so that nothing of it was run. */
export type VectorReport =
  | { readonly file: string; readonly outcome: "passed" }
  | { readonly file: string; readonly outcome: "failed"; readonly mismatches: readonly Mismatch[] }
  | { readonly file: string; readonly outcome: "unreadable"; readonly problems: readonly string[] };

export interface ConformanceReport {
  /** In the order of file names. */
  readonly vectors: readonly VectorReport[];
  readonly passed: number;
  /** Failed or unreadable. */
  readonly failed: number;
}

/**
 * Runs every `*.json` file of a directory as a contract vector.
 * @throws the file system's error when the directory cannot be read, and an Error when it holds no vector: a run of
 * nothing must not pass.
 */
export async function runDirectory(directory: string): Promise<ConformanceReport> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".json")).toSorted();
  if (files.length === 0) throw new Error(`no vectors (*.json) in ${directory}`);
  const vectors: VectorReport[] = [];
  for (const file of files) vectors.push(await runFile(directory, file));
  const passed = vectors.filter(({ outcome }) => outcome === "passed").length;
  return { vectors, passed, failed: vectors.length - passed };
}

/** The report as text: every difference, then one line that counts. */
export function formatReport({ vectors, passed, failed }: ConformanceReport): string {
  return `${vectors.flatMap(formatVector).join("")}${passed} passed, ${failed} failed\n`;
}

async function runFile(directory: string, file: string): Promise<VectorReport> {
  let raw: unknown;
  try {
    raw = JSON.parse(await readFile(join(directory, file), "utf8"));
  } catch (error) {
    return { file, outcome: "unreadable", problems: [error instanceof Error ? error.message : String(error)] };
  }
  const parsed = parseVector(raw);
  if (!parsed.ok) return { file, outcome: "unreadable", problems: parsed.problems };
  const mismatches = runVector(parsed.vector);
  return mismatches.length === 0 ? { file, outcome: "passed" } : { file, outcome: "failed", mismatches };
}

function formatVector(report: VectorReport): readonly string[] {
  switch (report.outcome) {
    case "passed":
      return [];
    case "unreadable":
      return [`UNREADABLE ${report.file}\n`, ...report.problems.map((problem) => `  ${problem}\n`)];
    case "failed":
      return [
        `FAILED ${report.file}\n`,
        ...report.mismatches.map(
          ({ where, member, expected, actual }) =>
            `  ${where}: ${member}\n    expected ${expected}\n    actual   ${actual}\n`,
        ),
      ];
  }
}
