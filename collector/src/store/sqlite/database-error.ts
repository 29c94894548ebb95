import { StoreUnavailableError } from "../store.ts";

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;

/** SQLite result codes that may heal by themselves: busy, locked, disk I/O, disk full. */
const RETRYABLE_CODES: ReadonlySet<number> = new Set([SQLITE_BUSY, 6, 10, 13]);

/** A row that cannot be read although its page can: its text was altered. */
export class DamagedRowError extends SyntaxError {
  constructor(row: string, cause: unknown) {
    super(`${row} is damaged: ${textOf(cause)}`, { cause });
    this.name = "DamagedRowError";
  }
}

/** Turns a driver error into one of the store's. Extended result codes carry the primary one in their low byte. */
export function unavailable(error: unknown, path: string): StoreUnavailableError {
  if (isDamage(error)) return damaged(path, error);
  const code = errorCode(error);
  return new StoreUnavailableError(`cannot use the database ${path}: ${textOf(error)}`, RETRYABLE_CODES.has(code), {
    cause: error,
  });
}

/** What an operator is told of a damaged file. */
function damaged(path: string, cause: unknown): StoreUnavailableError {
  return new StoreUnavailableError(
    `the database ${path} is damaged (${textOf(cause)}). Nothing of it was discarded, and nothing more is written to it. ` +
      `Stop the collector, keep a copy of ${path} and ${path}-wal, and look with "agent-lifecycle doctor"; then restore ` +
      `a backup, or save what can be read with the ".recover" command of sqlite3`,
    false,
    { cause },
  );
}

/** Whether the file itself is damaged: no retry and no waiting helps. */
export function isDamage(error: unknown): boolean {
  return error instanceof DamagedRowError || errorCode(error) === SQLITE_CORRUPT;
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

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
