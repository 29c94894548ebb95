import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreUnavailableError } from "../store.ts";
import { createDatabaseFile } from "./database-file.ts";
import { openDatabase } from "./open-database.ts";

/** A copy that was made and looked at. */
export interface Backup {
  /** Absolute path of the copy. */
  readonly path: string;
  readonly bytes: number;
  /** Inputs in the copy. */
  readonly inputs: number;
  /** Id of the newest of them; 0 when there is none. */
  readonly position: number;
}

export interface BackupOptions {
  /** The collector's database. A collector may be writing to it. */
  readonly database: string;
  /** File of the copy. */
  readonly destination: string;
  /** Whether a file that is there may be replaced. Default `false`. */
  readonly overwrite?: boolean;
}

/** There is a file under the name of the copy already. */
export class BackupExistsError extends Error {
  constructor(path: string) {
    super(`${path} is there already`);
    this.name = "BackupExistsError";
  }
}

/**
 * Copies a database as of one moment, compactly, while others may write to it: what is committed later is not in the
 * copy. The copy is made aside, looked at, made durable, and put in its place at once: a name that is there holds a whole
 * one. Blocks until it is done; meanwhile the write-ahead log of the database is not taken in, and grows.
 *
 * It is read through a connection of its own: the online backup of SQLite would begin anew with every commit.
 * @throws BackupExistsError; StoreUnavailableError when the database cannot be read, or the copy not be written.
 */
export function backupDatabase({ database, destination, overwrite = false }: BackupOptions): Backup {
  const path = resolve(destination);
  if (isPartOf(database, path)) {
    throw new StoreUnavailableError(`${path} belongs to the database that is to be copied: choose another name`, false);
  }
  if (!overwrite && existsSync(path)) throw new BackupExistsError(path);
  // A name of its own, so that two backups at one time do not take each other's unfinished copy for theirs.
  const aside = `${path}.${randomUUID()}.new`;
  const source = openDatabase({ path: database, readOnly: true });
  try {
    // Empty and with the right mode: SQLite would make it readable for others.
    createDatabaseFile(aside);
    source.prepare("VACUUM INTO ?").run(aside);
    const found = examine(aside);
    makeDurable(aside);
    renameSync(aside, path);
    makeDurable(dirname(path));
    return { path, bytes: statSync(path).size, ...found };
  } catch (error) {
    rmSync(aside, { force: true });
    throw error instanceof StoreUnavailableError
      ? error
      : new StoreUnavailableError(failure(path, error), false, { cause: error });
  } finally {
    source.close();
  }
}

/** The files that a collector has open. To replace one of them under it would lose what it stores from then on. */
function isPartOf(database: string, path: string): boolean {
  const own = real(database);
  return ["", "-wal", "-shm", ".lock"].some((suffix) => real(path) === `${own}${suffix}`);
}

/** The path without links, also of a file that is not there yet. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** @throws StoreUnavailableError when the copy is none. */
function examine(path: string): Pick<Backup, "inputs" | "position"> {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const [finding] = copy.prepare("PRAGMA quick_check(1)").all();
    if (finding?.["quick_check"] !== "ok") throw new Error(`the copy is damaged: ${String(finding?.["quick_check"])}`);
    const row = copy.prepare("SELECT count(*) AS inputs, coalesce(max(input_id), 0) AS position FROM inputs").get();
    return { inputs: Number(row?.["inputs"]), position: Number(row?.["position"]) };
  } finally {
    copy.close();
  }
}

function makeDurable(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function failure(path: string, error: unknown): string {
  return `cannot write the backup ${path}: ${error instanceof Error ? error.message : String(error)}`;
}
