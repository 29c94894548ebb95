import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FilePosition } from "../runtime/file-positions.ts";

/** An open file that is read on, and how far. */
export interface FollowedFile {
  readonly handle: FileHandle;
  readonly inode: bigint;
  /** Where reading goes on. */
  position: number;
  /** Where the first line begins that has not been read whole, and how many lines are before it. */
  lineStart: number;
  lines: number;
  /** Its successor is there: it is left at its next end. */
  replaced: boolean;
}

/** A pipe without a writer would hold the opening for ever otherwise, and with it the end of the process. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const HEAD_BYTES = 1_024;
const LINE_FEED = 0x0a;
/** What rotation appends to a name: `.1`, `-20261201`, `.2026-12-01T00`. Not what lies beside a journal. */
const ROTATED = /^[.-]\d[\dT.:-]*$/;

/** What is at the path can never be followed as it is. */
export class NoRegularFileError extends Error {
  override readonly name = "NoRegularFileError";

  constructor(path: string) {
    super(`${path} is no regular file; what a pipe carries is read from standard input`);
  }
}

/** Opens a file at its beginning. `undefined`: it is not there. @throws Error for anything but a regular file. */
export async function openFile(path: string): Promise<FollowedFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, OPEN_FLAGS);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  const status = await handle.stat({ bigint: true });
  if (!status.isFile()) {
    await handle.close();
    throw new NoRegularFileError(path);
  }
  return { handle, inode: status.ino, position: 0, lineStart: 0, lines: 0, replaced: false };
}

/**
 * Opens the file that a position is about and sets it there: the one at the path, or the one that has been moved away
 * from it. `undefined` when neither is it any more: written anew, cut, or gone.
 */
export async function reopenAt(path: string, known: FilePosition): Promise<FollowedFile | undefined> {
  for (const candidate of [path, ...(await rotatedFiles(path))]) {
    const file = await openFile(candidate).catch(() => undefined);
    if (file === undefined) continue;
    if (await isAbout(known, file)) {
      file.position = known.bytes;
      file.lineStart = known.bytes;
      file.lines = known.lines;
      file.replaced = candidate !== path;
      return file;
    }
    await file.handle.close();
  }
  return undefined;
}

/** Files of earlier rotations that are newer than this one, oldest first: they came between it and the one at the path. */
export async function successorsOf(path: string, file: FollowedFile): Promise<readonly string[]> {
  const { mtimeMs } = await file.handle.stat();
  const newer: { readonly path: string; readonly mtimeMs: number }[] = [];
  for (const candidate of await rotatedFiles(path)) {
    const status = await stat(candidate, { bigint: true }).catch(() => undefined);
    if (status === undefined || status.ino === file.inode || Number(status.mtimeMs) <= mtimeMs) continue;
    newer.push({ path: candidate, mtimeMs: Number(status.mtimeMs) });
  }
  return newer.sort((one, other) => one.mtimeMs - other.mtimeMs).map((each) => each.path);
}

/** Takes note of bytes that have been read. */
export function advance(file: FollowedFile, chunk: Uint8Array): void {
  for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, end + 1)) {
    file.lines += 1;
    file.lineStart = file.position + end + 1;
  }
  file.position += chunk.length;
}

/** The position that says: everything before the unfinished line is stored. */
export async function positionOf(file: FollowedFile): Promise<FilePosition> {
  const headBytes = Math.min(file.lineStart, HEAD_BYTES);
  const { inode, lineStart, lines } = file;
  return {
    inode: String(inode),
    headBytes,
    headDigest: await digestOfHead(file.handle, headBytes),
    bytes: lineStart,
    lines,
  };
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "ENOENT";
}

async function isAbout(known: FilePosition, file: FollowedFile): Promise<boolean> {
  if (String(file.inode) !== known.inode) return false;
  const { size } = await file.handle.stat();
  return size >= known.bytes && (await digestOfHead(file.handle, known.headBytes)) === known.headDigest;
}

async function digestOfHead(handle: FileHandle, bytes: number): Promise<string> {
  const head = Buffer.alloc(bytes);
  const { bytesRead } = await handle.read(head, 0, bytes, 0);
  return createHash("sha256").update(head.subarray(0, bytesRead)).digest("hex");
}

async function rotatedFiles(path: string): Promise<readonly string[]> {
  const name = basename(path);
  const names = await readdir(dirname(path)).catch(() => []);
  return names
    .filter((each) => each.startsWith(name) && ROTATED.test(each.slice(name.length)))
    .map((each) => join(dirname(path), each));
}
