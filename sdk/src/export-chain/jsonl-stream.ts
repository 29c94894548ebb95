import { writeSync } from "node:fs";
import type { JsonlTarget } from "./jsonl-target.ts";

/** How long the process's end may wait for a reader that does not read, milliseconds. */
const LONGEST_BLOCK_MS = 500;
const PAUSE_MS = 5;

/**
 * Writes lines to one of the process's own streams, in turn with what the host writes there. A reader that has gone
 * away costs the lines, never the host: the error of our own write is ours.
 */
export function createJsonlStream(stream: NodeJS.WriteStream, descriptor: number): JsonlTarget {
  return {
    append: (text) =>
      new Promise((resolve, reject) => {
        const swallow = (): void => undefined;
        stream.on("error", swallow);
        stream.write(text, (error) => {
          // The stream emits the error after this call; then the listener has done its work.
          setImmediate(() => stream.off("error", swallow)).unref();
          if (error === undefined || error === null) resolve();
          else reject(error);
        });
      }),
    appendSync: (text) => writeAll(descriptor, Buffer.from(text)),
    close: () => Promise.resolve(),
  };
}

/** A pipe may be non-blocking and full: wait for its reader, but not for ever. */
function writeAll(descriptor: number, bytes: Buffer): void {
  let paused = 0;
  for (let written = 0; written < bytes.byteLength; ) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (!isFull(error) || paused >= LONGEST_BLOCK_MS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      paused += PAUSE_MS;
    }
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}
