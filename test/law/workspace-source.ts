import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's own directory. */
export const REPOSITORY: string = fileURLToPath(new URL("../../", import.meta.url));

export interface SourceFile {
  /** From the repository's directory, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** The files that match, in the order of their paths; never what was built or installed. */
export async function readSources(...patterns: readonly string[]): Promise<readonly SourceFile[]> {
  const paths: string[] = [];
  const exclude = (path: string): boolean => /(?:^|[\\/])(?:node_modules|dist)(?:[\\/]|$)/.test(path);
  for await (const path of glob([...patterns], { cwd: REPOSITORY, exclude })) paths.push(path.replaceAll("\\", "/"));
  return Promise.all(
    [...new Set(paths)]
      .toSorted()
      .map(async (path) => ({ path, text: await readFile(join(REPOSITORY, path), "utf8") })),
  );
}
