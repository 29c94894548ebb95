import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it that are missing, one by one. Node's own `recursive` never returns where a folder is
 * there and takes no other, as in `/proc`: no signal ends it.
 * @param mode of each folder that is made, before the umask; default 0o777
 * @throws the operating system's error.
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== "ENOENT" || parent === path) throw error;
    makeFolder(parent, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Whether it is a folder is found by whoever puts something into it.
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
