import { DatabaseSync } from "node:sqlite";
import { StoreUnavailableError } from "../store.ts";

/**
 * Makes this process the only writer of a database for as long as it lives. The lock is the operating system's, held
 * through an open transaction on a file beside the database: a crash frees it, and readers are not in its way.
 * @returns the function that gives the lock up.
 * @throws StoreUnavailableError when another collector holds it.
 */
export function lockForWriting(path: string): () => void {
  if (path === ":memory:") return () => {};
  const lock = new DatabaseSync(`${path}.lock`, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    throw new StoreUnavailableError(
      `another collector is writing to ${path}; stop it, or give this one a database of its own`,
      false,
      { cause: error },
    );
  }
  return () => lock.close();
}
