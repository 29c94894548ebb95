import { createHash, randomUUID } from "node:crypto";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { livenessOf, ownIdentity, type ProcessIdentity } from "../process/process-identity.ts";

/**
 * How long the folder of a process that cannot be looked at (another container) must lie untouched before it counts as
 * left behind, milliseconds. Its owner touches it every minute.
 */
const FOREIGN_LEASE_MS = 15 * 60_000;

/** What belongs to one destination: events are only ever sent where they were meant to go. */
export function destinationFolder(directory: string, destination: string): string {
  return join(directory, createHash("sha256").update(destination).digest("hex").slice(0, 16));
}

/**
 * A name for a spool of this process. The name is the owner's record: taking a spool over is one `rename`, which exactly
 * one process can do, and there is no moment at which a spool has no owner or two. Its end names the spool itself, sorts
 * by the time it was begun, and stays whoever owns it.
 */
export function ownFolderName(spool: string = newSpool(), identity: ProcessIdentity = ownIdentity()): string {
  const { pid, startTime = "", bootId = "", pidNamespace = "", host } = identity;
  return `p${pid}.s${startTime}.b${bootId}.n${pidNamespace}.h${host}.${spool}`;
}

let begun = 0;

/** Milliseconds, a count for spools of one moment, and what makes it unique, all of fixed width. */
function newSpool(): string {
  begun = (begun + 1) % 36 ** 2;
  const time = Date.now().toString(36).padStart(9, "0");
  return `${time}${begun.toString(36).padStart(2, "0")}-${randomUUID().slice(0, 8)}`;
}

const FOLDER_NAME = /^p(\d{1,10})\.s([A-Za-z0-9]*)\.b([0-9a-f]*)\.n(\d*)\.h([0-9a-f]{8})\.[0-9a-z]{11}-[0-9a-f]{8}$/;

function spoolIn(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function ownerOf(name: string): ProcessIdentity | undefined {
  const parts = FOLDER_NAME.exec(name);
  if (parts === null) return undefined;
  const [, pid, startTime, bootId, pidNamespace, host = ""] = parts;
  return {
    pid: Number(pid),
    host,
    ...(startTime ? { startTime } : undefined),
    ...(bootId ? { bootId } : undefined),
    ...(pidNamespace ? { pidNamespace } : undefined),
  };
}

/**
 * Takes over the spools of processes that are no more. Those of living processes, of other users, and whatever else
 * lies there are left alone.
 * @returns the paths of the folders that are ours now, those begun first in front.
 */
export function adoptAbandoned(folder: string, nowMs: number): readonly string[] {
  const adopted: string[] = [];
  const names = namesIn(folder).map((name) => ({ name, spool: spoolIn(name) }));
  names.sort((one, other) => (one.spool < other.spool ? -1 : 1));
  for (const { name, spool } of names) {
    const owner = ownerOf(name);
    const path = join(folder, name);
    if (owner === undefined || !isAbandoned(owner, path, nowMs)) continue;
    const ours = join(folder, ownFolderName(spool));
    try {
      renameSync(path, ours);
      adopted.push(ours);
    } catch {
      // Another process was faster, or the folder is not ours to move.
    }
  }
  return adopted;
}

function isAbandoned(owner: ProcessIdentity, path: string, nowMs: number): boolean {
  try {
    const status = lstatSync(path);
    if (!status.isDirectory() || status.uid !== (process.getuid?.() ?? status.uid)) return false;
    const liveness = livenessOf(owner);
    return liveness === "dead" || (liveness === "unknown" && nowMs - status.mtimeMs > FOREIGN_LEASE_MS);
  } catch {
    return false;
  }
}

/** Bytes of everything that lies in spools of this destination. */
export function bytesIn(folder: string): number {
  let bytes = 0;
  for (const name of namesIn(folder)) {
    for (const segment of namesIn(join(folder, name))) {
      try {
        bytes += lstatSync(join(folder, name, segment)).size;
      } catch {
        // Sent and removed meanwhile.
      }
    }
  }
  return bytes;
}

/** Names in a folder, sorted; none where it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
