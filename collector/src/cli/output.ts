import type { Readable } from "node:stream";

/**
 * Whoever reads our output may go while we write (`… | head -1`). That is no fault: what we write from then on is
 * dropped, without a stack. Any other failure of an output is thrown.
 */
export function tolerateClosedOutput(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ECONNRESET") throw error;
    });
  }
}

/**
 * Passes on what a command writes, byte for byte. When our own reader goes, the command's pipe is closed: it meets what
 * it would have met without us.
 */
export function passOutputOn(from: Readable | null, to: NodeJS.WriteStream): void {
  if (from === null) return;
  from.pipe(to, { end: false });
  to.once("error", () => from.destroy());
}
