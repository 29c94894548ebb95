import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../make-folder.ts";
import { livenessOf, ownIdentity, type ProcessIdentity } from "../process/process-identity.ts";

/** Who holds a lock, as `owner.json` in it says. */
export interface LockOwner extends ProcessIdentity {
  /** Names one holding of the lock, not only one process. */
  readonly token: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

export type LockAttempt =
  | { readonly acquired: true }
  /** `owner` is absent when the lock says nothing that can be read. */
  | { readonly acquired: false; readonly owner: LockOwner | undefined };

const OWNER_FILE = "owner.json";
const FOLDER_MODE = 0o700;
/** Reclaimers in a row that may have died in the attempt. */
const MAX_CLAIMS = 16;

/**
 * A lock that cooperating processes take by moving a directory into place. The directory is prepared aside with its
 * owner's record in it, so there is no moment, also in a crash, at which there is a lock without an owner. Reclaimed only
 * when it is older than the given age and its owner is demonstrably dead.
 */
export class JournalLock {
  readonly #path: string;
  readonly #prepared: string;
  readonly #reclaimAfterMs: number;
  #token = "";

  /** @param path of the lock's directory, by the contract `<journal>.lock` */
  constructor(path: string, reclaimAfterMs: number) {
    this.#path = path;
    this.#prepared = `${path}.${process.pid}.${randomUUID().slice(0, 8)}`;
    this.#reclaimAfterMs = reclaimAfterMs;
  }

  /** One attempt, without waiting. @throws Error when the directory cannot be made at all. */
  attempt(): LockAttempt {
    if (this.#moveIntoPlace(this.#path)) return { acquired: true };
    const owner = readOwner(this.#path);
    if (owner === undefined || !this.#mayBeReclaimed(owner)) return { acquired: false, owner };
    return this.#reclaim(owner) && this.#moveIntoPlace(this.#path) ? { acquired: true } : { acquired: false, owner };
  }

  /** Gives the lock back. Somebody else's is left alone. */
  release(): void {
    if (readOwner(this.#path)?.token !== this.#token) return;
    // The directory serves again: the next attempt needs no other.
    renameSync(this.#path, this.#prepared);
  }

  /** Removes what was prepared. */
  close(): void {
    rmSync(this.#prepared, { recursive: true, force: true });
  }

  #moveIntoPlace(path: string): boolean {
    this.#token = randomUUID();
    const owner: LockOwner = { ...ownIdentity(), token: this.#token, createdAt: new Date().toISOString() };
    makeFolder(this.#prepared, FOLDER_MODE);
    writeFileSync(join(this.#prepared, OWNER_FILE), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    try {
      renameSync(this.#prepared, path);
      return true;
    } catch (error) {
      if (isInTheWay(error)) return false;
      throw error;
    }
  }

  #mayBeReclaimed(owner: LockOwner): boolean {
    const ageMs = Date.now() - Date.parse(owner.createdAt);
    return ageMs >= this.#reclaimAfterMs && livenessOf(owner) === "dead";
  }

  /**
   * Takes a dead owner's lock away. Two that saw the same dead owner must not both do it, for the second would take
   * away what the first has put there: whoever moves a claim for this very token into place has the right to, and when
   * that one dies over it, the next claim in the row.
   */
  #reclaim(owner: LockOwner): boolean {
    for (let number = 0; number < MAX_CLAIMS; number += 1) {
      const claim = `${this.#path}.reclaim.${owner.token.replace(/[^A-Za-z0-9-]/g, "")}.${number}`;
      if (this.#moveIntoPlace(claim)) {
        const isStillTheirs = readOwner(this.#path)?.token === owner.token;
        if (isStillTheirs) rmSync(this.#path, { recursive: true, force: true });
        rmSync(claim, { recursive: true, force: true });
        return isStillTheirs;
      }
      const claimer = readOwner(claim);
      if (claimer === undefined || livenessOf(claimer) !== "dead") return false;
    }
    return false;
  }
}

/** The owner of a lock; `undefined` when there is no lock, or its record cannot be read. */
function readOwner(path: string): LockOwner | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(path, OWNER_FILE), "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { pid, token, createdAt, host, ...rest } = value as Readonly<Record<string, unknown>>;
    if (typeof pid !== "number" || typeof token !== "string" || typeof createdAt !== "string") return undefined;
    const texts = Object.fromEntries(
      ["startTime", "bootId", "pidNamespace"].flatMap((name) =>
        typeof rest[name] === "string" ? [[name, rest[name]]] : [],
      ),
    );
    // A writer that tells no host is one of this machine: the contract asks for PID, token and time alone.
    return { pid, token, createdAt, host: typeof host === "string" ? host : ownIdentity().host, ...texts };
  } catch {
    return undefined;
  }
}

function isInTheWay(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (error.code === "ENOTEMPTY" || error.code === "EEXIST" || error.code === "ENOTDIR") return true;
  // Windows says no more than that it is not permitted.
  return error.code === "EPERM" && process.platform === "win32";
}
