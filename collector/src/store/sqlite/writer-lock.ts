import { DatabaseSync } from "node:sqlite";
import { StoreUnavailableError } from "../store.ts";
import { isHeldByAnother, unavailable } from "./open-database.ts";

/**
 * Makes this process the only writer of a database for as long as it lives. The lock is the operating system's, held
 * through an open transaction on a file beside the database: a crash frees it, and readers are not in its way.
 * @returns the function that gives the lock up.
 * @throws StoreUnavailableError when another collector holds it, or the file beside the database cannot be used.
 */
export function lockForWriting(path: string): () => void {
  if (path === ":memory:") return () => {};
  const lockPath = `${path}.lock`;
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockPath, { timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
    const held = lock;
    return () => held.close();
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
