import { accessSync, closeSync, constants, openSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../files/make-folder.ts";
import { unavailable } from "./database-error.ts";

/** What is stored tells what an organization works on: nobody but the owner reads it. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Sees to it that there is a file that can be written, and a folder in which SQLite can make its own beside it: its own
 * words for a file system that is read-only say nothing of that.
 *
 * Makes an empty file for a database that is not there yet. One that is there is never opened here: closing a file gives
 * up all locks that this process holds on it, those of its SQLite connections too.
 * @throws StoreUnavailableError when it cannot be made.
 */
export function createDatabaseFile(path: string): void {
  if (path === ":memory:") return;
  try {
    makeFolder(dirname(path), FOLDER_MODE);
    createIfMissing(path);
    for (const place of [path, dirname(path)]) accessSync(place, constants.W_OK);
  } catch (error) {
    throw unavailable(error, path);
  }
}

function createIfMissing(path: string): void {
  try {
    closeSync(openSync(path, "wx", FILE_MODE));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
