import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StoreUnavailableError } from "../store.ts";
import { isHeldByAnother, unavailable } from "./database-error.ts";

/** This process is the only writer of a database. */
export interface WriterLock {
  /** Gives the lock up. */
  release(): void;
  /** As `release`, for a database that turned out to be none: what was put beside it is taken away again. */
  discard(): void;
}

const NO_LOCK: WriterLock = { release: () => {}, discard: () => {} };

/**
 * Makes this process the only writer of a database for as long as it lives. The lock is the operating system's, held
 * through an open transaction on a file beside the database: a crash frees it, and readers are not in its way.
 * @throws StoreUnavailableError when another collector holds it, or the file beside the database cannot be used.
 */
export function lockForWriting(path: string): WriterLock {
  if (path === ":memory:") return NO_LOCK;
  const lockPath = `${path}.lock`;
  const wasThere = existsSync(lockPath);
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockPath, { timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
    const held = lock;
    return {
      release: () => held.close(),
      discard: () => {
        if (!wasThere) rmSync(lockPath, { force: true });
        held.close();
        if (!wasThere) rmSync(`${lockPath}-journal`, { force: true });
      },
    };
  } catch (error) {
    lock?.close();
    if (!isHeldByAnother(error)) throw unavailable(error, lockPath);
    throw new StoreUnavailableError(
      `another collector is writing to ${path}; stop it, or give this one a database of its own`,
      false,
      { cause: error },
    );
  }
}
