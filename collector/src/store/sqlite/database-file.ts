import { closeSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { StoreUnavailableError } from "../store.ts";
import { unavailable } from "./open-database.ts";

/** What is stored tells what an organization works on: nobody but the owner reads it. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** The first bytes of every SQLite database. */
const HEADER = "SQLite format 3\0";

/**
 * Makes sure that there is a database file, or an empty one to become it, before anything is written beside it.
 * @throws StoreUnavailableError when the path is something else.
 */
export function prepareDatabaseFile(path: string): void {
  if (path === ":memory:") return;
  let start: string;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
    const file = openSync(path, "a+", FILE_MODE);
    try {
      const bytes = Buffer.alloc(HEADER.length);
      start = bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unavailable(error, path);
  }
  if (start !== "" && start !== HEADER) {
    throw new StoreUnavailableError(`cannot use the database ${path}: file is not a database`, false);
  }
}
