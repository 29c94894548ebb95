import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { withoutContent } from "./hooks/hook-record.ts";
import { hookSpoolDirectory, MAX_SEGMENT_BYTES, segmentName } from "./hooks/hook-spool.ts";
import { makeFolder } from "./make-folder.ts";

export { hookSpoolDirectory } from "./hooks/hook-spool.ts";

const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
const MAX_PAYLOAD_BYTES = 33_554_432;
const PIECE_BYTES = 65_536;

/**
 * A hook of an agent: reads the payload from standard input, keeps what it says without its content, appends it to the
 * spool, and is done. It sends nothing and prints nothing: the agent waits for it. It never fails, for a hook that fails
 * may stop the agent's work; what cannot be kept is said on standard error.
 *
 * The order is that of the processes' starts, which no disk and no payload can change.
 * @param agent names the agent, such as `claude-code`: letters, digits and hyphens.
 */
export function runHookShim(agent: string): void {
  const startedAt = performance.timeOrigin;
  const order = process.hrtime.bigint() - BigInt(Math.round(performance.now() * 1_000_000));
  try {
    if (!/^[a-z0-9-]{1,64}$/.test(agent)) throw new Error("an agent's name has letters, digits and hyphens");
    const payload = withoutContent(JSON.parse(readInput()) as unknown);
    if (payload === undefined) throw new Error("the payload is no JSON object");
    const receivedAt = new Date(startedAt).toISOString();
    append(agent, receivedAt, `${JSON.stringify({ receivedAt, order: String(order), payload })}\n`);
  } catch (error) {
    process.stderr.write(
      `agent-lifecycle hook: ${error instanceof SyntaxError ? "the payload is no JSON" : String(error)}\n`,
    );
  }
}

function readInput(): string {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const length = readPiece(piece);
    if (length === 0) return Buffer.concat(pieces).toString();
    bytes += length;
    if (bytes > MAX_PAYLOAD_BYTES) throw new Error(`the payload is longer than ${MAX_PAYLOAD_BYTES} bytes`);
    pieces.push(piece.subarray(0, length));
  }
}

function readPiece(piece: Buffer): number {
  for (;;) {
    try {
      return readSync(0, piece);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "EOF") return 0;
      // A pipe that was opened without waiting has nothing yet.
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** One write: records of hooks that run at the same time never mix. */
function append(agent: string, receivedAt: string, line: string): void {
  const directory = hookSpoolDirectory(agent, process.env);
  const path = join(directory, segmentName(receivedAt));
  let descriptor: number;
  try {
    descriptor = openSync(path, APPEND, 0o600);
  } catch {
    makeFolder(directory, 0o700);
    descriptor = openSync(path, APPEND, 0o600);
  }
  try {
    if (fstatSync(descriptor).size > MAX_SEGMENT_BYTES) throw new Error("the spool of hooks is full");
    writeSync(descriptor, line);
  } finally {
    closeSync(descriptor);
  }
}
