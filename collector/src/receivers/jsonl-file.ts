import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import type { Component } from "../runtime/component.ts";
import type { Intake } from "../runtime/intake.ts";
import { patientlyRetrying, SYSTEM_WAIT, type Wait } from "./intake-patience.ts";
import { JsonlSubmission, type JsonlTally } from "./jsonl-submission.ts";

export interface JsonlFileOptions {
  readonly intake: Intake;
  readonly path: string;
  readonly maxLineBytes?: number;
  /** Time between two looks at a file that has not grown. Milliseconds; default 250. */
  readonly pollIntervalMs?: number;
  /** Hears once of each episode in which the file cannot be read; a file that does not exist yet is no failure. */
  readonly onError: (error: unknown) => void;
  readonly wait?: Wait;
}

export interface JsonlFileReceiver extends Component {
  /** Of the file as it is now; it begins anew when the file does. */
  readonly tally: JsonlTally;
}

const DEFAULT_POLL_INTERVAL_MS = 250;
const CHUNK_BYTES = 64 * 1024;
/** A pipe without a writer would hold the opening for ever otherwise, and with it the end of the process. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Follows a file of events, one per line, from its beginning and as it grows. A file that is replaced (rotation) is read
 * to its end first; a new or truncated one is read from its beginning. Reading a line twice is harmless: it is recognized.
 * The end of the file says nothing about a child. Everything in it counts as old evidence (S1).
 */
export function createJsonlFileReceiver(options: JsonlFileOptions): JsonlFileReceiver {
  const follower = new Follower(options);
  return {
    get tally() {
      return follower.tally;
    },
    start: () => follower.start(),
    shutdown: () => follower.shutdown(),
  };
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly inode: bigint;
  position: number;
  /** Its successor is there: it is left at its next end. */
  replaced: boolean;
}

class Follower {
  readonly #options: JsonlFileOptions;
  readonly #stop = new AbortController();
  readonly #wait: Wait;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #file: OpenFile | undefined;
  #submission: JsonlSubmission;
  #failing = false;
  #following: Promise<void> = Promise.resolve();

  constructor(options: JsonlFileOptions) {
    this.#options = options;
    this.#wait = options.wait ?? SYSTEM_WAIT;
    this.#submission = this.#newSubmission();
  }

  get tally(): JsonlTally {
    return this.#submission.tally;
  }

  async start(): Promise<void> {
    this.#following = this.#follow();
  }

  async shutdown(): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    const intervalMs = this.#options.pollIntervalMs ?? DEFAULT_POLL_INTERVAL_MS;
    while (!signal.aborted) {
      const grew = await this.#look();
      if (!grew) await this.#wait(intervalMs, signal).catch(() => {});
    }
    await this.#submission.settle().catch(() => {});
    await this.#close();
  }

  /** One look. @returns whether there may be more to read at once. */
  async #look(): Promise<boolean> {
    try {
      this.#file ??= await this.#open();
      const read = this.#file === undefined ? false : await this.#readOn(this.#file);
      this.#failing = false;
      return read;
    } catch (error) {
      if (!this.#stop.signal.aborted && !this.#failing) this.#options.onError(error);
      this.#failing = true;
      await this.#close();
      return false;
    }
  }

  async #open(): Promise<OpenFile | undefined> {
    try {
      const handle = await open(this.#options.path, OPEN_FLAGS);
      const status = await handle.stat({ bigint: true });
      if (!status.isFile()) {
        await handle.close();
        throw new Error(`${this.#options.path} is no regular file; what a pipe carries is read from standard input`);
      }
      this.#submission = this.#newSubmission();
      return { handle, inode: status.ino, position: 0, replaced: false };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #readOn(file: OpenFile): Promise<boolean> {
    const { bytesRead } = await file.handle.read(this.#buffer, 0, CHUNK_BYTES, file.position);
    if (bytesRead > 0) {
      file.replaced = false;
      file.position += bytesRead;
      await this.#submission.push(this.#buffer.subarray(0, bytesRead));
      return true;
    }
    const change = await this.#changeOf(file);
    if (change === "none") return false;
    if (change === "replaced" && !file.replaced) {
      file.replaced = true;
      // Its writer may not have let go of it yet: it is left only when it has not grown for a while.
      return false;
    }
    await this.#submission.end();
    await this.#close();
    return true;
  }

  async #changeOf(file: OpenFile): Promise<"none" | "truncated" | "replaced"> {
    const { size } = await file.handle.stat();
    if (size < file.position) return "truncated";
    try {
      const { ino } = await stat(this.#options.path, { bigint: true });
      return ino === file.inode ? "none" : "replaced";
    } catch (error) {
      // Moved away, and its successor is not there yet: what is still written to it belongs to it.
      if (isMissing(error)) return "none";
      throw error;
    }
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close().catch(() => {});
  }

  #newSubmission(): JsonlSubmission {
    const { intake, maxLineBytes } = this.#options;
    return new JsonlSubmission({
      intake,
      receiver: "jsonl_file",
      backfill: true,
      ...(maxLineBytes === undefined ? undefined : { maxLineBytes }),
      onRefusal: patientlyRetrying(this.#wait, this.#stop.signal),
      leavesOutHopeless: true,
    });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "ENOENT";
}
