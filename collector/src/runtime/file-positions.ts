import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { replaceDurably } from "./durable-file.ts";

/** How far a followed file has been stored. */
export interface FilePosition {
  /** The file, whatever it is called by now. */
  readonly inode: string;
  /** Digest of the first `headBytes`: an inode comes back for another file, and a file may be written anew. */
  readonly headDigest: string;
  readonly headBytes: number;
  /** Where the first line begins that is not stored yet, bytes. */
  readonly bytes: number;
  /** Lines before it. */
  readonly lines: number;
}

/** Where it is kept how far each followed file has been stored. */
export interface FilePositions {
  /** The position in the file that was followed at this path; `undefined` when none is known that still holds. */
  load(path: string): Promise<FilePosition | undefined>;
  /** Resolves when it is durable. Rejects when it cannot be kept: lines are read again next time, and recognized. */
  save(path: string, position: FilePosition): Promise<void>;
}

/**
 * Keeps each position in a small file of its own. With it goes the newest input of the store: a database that was put
 * back to an earlier state, or begun anew, does not hold what the position says, and then it counts for nothing.
 */
export function createFilePositions(folder: string, lastInputId: () => number): FilePositions {
  const pathOf = (path: string): string => {
    const name = createHash("sha256").update(resolve(path)).digest("hex").slice(0, 32);
    return join(folder, `${name}.json`);
  };
  return {
    load: async (path) => {
      const text = await readFile(pathOf(path), "utf8").catch(() => undefined);
      return text === undefined ? undefined : parsePosition(text, lastInputId());
    },
    save: (path, position) =>
      replaceDurably(
        pathOf(path),
        `${JSON.stringify({ path: resolve(path), ...position, lastInputId: lastInputId() })}\n`,
      ),
  };
}

/** A damaged one is as good as none: what it would have saved is read again. */
function parsePosition(text: string, newestInputId: number): FilePosition | undefined {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const { inode, headDigest, headBytes, bytes, lines, lastInputId } = value;
    if (typeof inode !== "string" || typeof headDigest !== "string") return undefined;
    if (!isCount(headBytes) || !isCount(bytes) || !isCount(lines) || !isCount(lastInputId)) return undefined;
    return lastInputId <= newestInputId ? { inode, headDigest, headBytes, bytes, lines } : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
