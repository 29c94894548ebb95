import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../make-folder.ts";
import type { JsonlTarget } from "./jsonl-target.ts";

/** Events may name what an organization works on: nobody but the owner reads them. */
const FILE_MODE = 0o600;
const LINE_END = 0x0a;

/**
 * Appends to a file that other processes may append to as well: it is opened for appending, and every call writes whole
 * lines. A line that an earlier crash or a full disk left unfinished is closed first, so that it spoils no other.
 */
export function createJsonlFile(path: string): JsonlTarget {
  let opening: Promise<FileHandle> | undefined;
  let handle: FileHandle | undefined;
  let endsInsideLine = false;

  const openFile = async (): Promise<FileHandle> => {
    makeFolder(dirname(path));
    const file = await open(path, "a+", FILE_MODE);
    endsInsideLine = await lastByteIsNoLineEnd(file);
    handle = file;
    return file;
  };
  const opened = (): Promise<FileHandle> => {
    opening ??= openFile().catch((error: unknown) => {
      // The directory may be made, or the disk mounted, before the next append.
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const started = (text: string): Buffer => Buffer.from(endsInsideLine ? `\n${text}` : text);

  return {
    append: async (text) => {
      const file = await opened();
      const bytes = started(text);
      endsInsideLine = true;
      for (let written = 0; written < bytes.byteLength; ) {
        written += (await file.write(bytes, written)).bytesWritten;
      }
      endsInsideLine = false;
    },
    appendSync: (text) => {
      // An asynchronous append may have got half-way: start on a line of its own.
      if (handle !== undefined) writeAll(handle.fd, started(text));
      else appendOnce(path, text);
      endsInsideLine = false;
    },
    close: async () => {
      // An append may still be opening the file: what it opens is closed too.
      const file = await opening?.catch(() => undefined);
      opening = undefined;
      handle = undefined;
      await file?.close();
    },
  };
}

async function lastByteIsNoLineEnd(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  const { bytesRead } = await file.read(last, 0, 1, size - 1);
  return bytesRead === 1 && last[0] !== LINE_END;
}

function appendOnce(path: string, text: string): void {
  makeFolder(dirname(path));
  const descriptor = openSync(path, "a+", FILE_MODE);
  try {
    const { size } = fstatSync(descriptor);
    const last = Buffer.alloc(1);
    const unfinished = size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== LINE_END;
    writeAll(descriptor, Buffer.from(unfinished ? `\n${text}` : text));
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.byteLength; ) written += writeSync(descriptor, bytes, written);
}
