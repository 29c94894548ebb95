import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreUnavailableError } from "../store.ts";
import { isDamage, unavailable } from "./database-error.ts";
import { CREATE_TABLES, SCHEMA_VERSION } from "./schema.ts";
import { upgradeSchema } from "./upgrade-schema.ts";

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
 * Opens or creates the database, and upgrades one that an older program made.
 * @throws StoreUnavailableError in words an operator can act on.
 */
export function openDatabase(options: SqliteStoreOptions): DatabaseSync {
  const { path, synchronous = "full", readOnly = false } = options;
  let database: DatabaseSync | undefined;
  try {
    if (readOnly && !existsSync(path)) throw new StoreUnavailableError(`there is no database ${resolve(path)}`, false);
    database = new DatabaseSync(path, { readOnly, timeout: readOnly ? 5_000 : 0 });
    if (!readOnly) prepareWriter(database, path, synchronous);
    checkVersion(database, path);
    return database;
  } catch (error) {
    if (database !== undefined && isDamage(error)) closeUntouched(database, path);
    else database?.close();
    if (error instanceof StoreUnavailableError) throw error;
    throw unavailable(error, path);
  }
}

/**
 * Closes a connection and leaves the files as they are. The last writer to close would move the write-ahead log into the
 * database and delete it; a connection that only reads and is closed after it does neither.
 */
export function closeUntouched(database: DatabaseSync, path: string): void {
  let last: DatabaseSync | undefined;
  try {
    last = new DatabaseSync(path, { readOnly: true });
    last.prepare("PRAGMA schema_version").get();
  } catch {
    // So badly damaged that it cannot be read: SQLite moves nothing into it either.
  }
  database.close();
  last?.close();
}

function prepareWriter(database: DatabaseSync, path: string, synchronous: "full" | "normal"): void {
  // Events come many at a time: larger pages make for fewer writes. An existing database keeps the size it has.
  // No vacuum: the space of what retention removed is taken again by what comes in. Giving it back would move pages
  // about for as long as the collector runs, to make room that it needs again; a backup is a compact copy.
  database.exec(`
    PRAGMA page_size = 8192;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${synchronous === "full" ? "FULL" : "NORMAL"};
    PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 2000;
    PRAGMA foreign_keys = OFF;
  `);
  const isNew = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"] === 0;
  if (!isNew) {
    upgradeSchema(database, versionOf(database, path));
    return;
  }
  database.exec(`BEGIN IMMEDIATE; ${CREATE_TABLES}`);
  database.prepare("INSERT INTO meta (name, value) VALUES ('schema_version', ?)").run(String(SCHEMA_VERSION));
  database.exec("COMMIT");
}

function checkVersion(database: DatabaseSync, path: string): void {
  const version = versionOf(database, path);
  if (version === SCHEMA_VERSION) return;
  throw new StoreUnavailableError(
    `${path} has schema version ${version}; this program reads version ${SCHEMA_VERSION}. Start its collector once: ` +
      "that upgrades it",
    false,
  );
}

/** @throws StoreUnavailableError when a newer program made the database: nothing is guessed about it. */
function versionOf(database: DatabaseSync, path: string): number {
  const stated = database.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get()?.["value"];
  const version = Number(stated);
  if (Number.isInteger(version) && version >= 1 && version <= SCHEMA_VERSION) return version;
  throw new StoreUnavailableError(
    `${path} has schema version ${String(stated)}; this program reads version ${SCHEMA_VERSION}. Use a newer program`,
    false,
  );
}
