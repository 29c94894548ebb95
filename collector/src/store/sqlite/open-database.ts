import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreUnavailableError } from "../store.ts";
import { CREATE_TABLES, SCHEMA_VERSION } from "./schema.ts";

export interface SqliteStoreOptions {
  /** File of the database, which is created if need be. `:memory:` keeps everything in memory. */
  readonly path: string;
  /**
   * `full` (default): a commit survives a crash of the machine. `normal`: it survives a crash of the process; the
   * newest commits may be lost with the machine.
   */
  readonly synchronous?: "full" | "normal";
  readonly readOnly?: boolean;
}

/**
 * Opens or creates the database.
 * @throws StoreUnavailableError in words an operator can act on.
 */
export function openDatabase(options: SqliteStoreOptions): DatabaseSync {
  const { path, synchronous = "full", readOnly = false } = options;
  let database: DatabaseSync | undefined;
  try {
    if (readOnly && !existsSync(path)) throw new StoreUnavailableError(`there is no database ${resolve(path)}`, false);
    database = new DatabaseSync(path, { readOnly, timeout: readOnly ? 5_000 : 0 });
    if (!readOnly) prepareWriter(database, synchronous);
    checkVersion(database, path);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StoreUnavailableError) throw error;
    throw unavailable(error, path);
  }
}

function prepareWriter(database: DatabaseSync, synchronous: "full" | "normal"): void {
  // Events come many at a time: larger pages make for fewer writes. An existing database keeps the size it has.
  database.exec(`
    PRAGMA page_size = 8192;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${synchronous === "full" ? "FULL" : "NORMAL"};
    PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 2000;
    PRAGMA foreign_keys = OFF;
  `);
  const isNew = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"] === 0;
  if (!isNew) return;
  database.exec(`BEGIN IMMEDIATE; ${CREATE_TABLES}`);
  database.prepare("INSERT INTO meta (name, value) VALUES ('schema_version', ?)").run(String(SCHEMA_VERSION));
  database.exec("COMMIT");
}

function checkVersion(database: DatabaseSync, path: string): void {
  const row = database.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get();
  if (row?.["value"] === String(SCHEMA_VERSION)) return;
  throw new StoreUnavailableError(
    `${path} has schema version ${String(row?.["value"])}; this program reads version ${SCHEMA_VERSION}`,
    false,
  );
}

const SQLITE_BUSY = 5;

/** SQLite result codes that may heal by themselves: busy, locked, disk I/O, disk full. */
const RETRYABLE_CODES: ReadonlySet<number> = new Set([SQLITE_BUSY, 6, 10, 13]);

/** Turns a driver error into one of the store's. Extended result codes carry the primary one in their low byte. */
export function unavailable(error: unknown, path: string): StoreUnavailableError {
  const code = errorCode(error);
  const text = error instanceof Error ? error.message : String(error);
  return new StoreUnavailableError(`cannot use the database ${path}: ${text}`, RETRYABLE_CODES.has(code), {
    cause: error,
  });
}

/** Whether SQLite raised it, and not a mistake of ours. */
export function isDriverError(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SQLITE_ERROR";
}

/** Whether another connection's lock was in the way. */
export function isHeldByAnother(error: unknown): boolean {
  return errorCode(error) === SQLITE_BUSY;
}

function errorCode(error: unknown): number {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return -1;
  return typeof error.errcode === "number" ? error.errcode & 0xff : -1;
}
