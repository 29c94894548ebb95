import { stat } from "node:fs/promises";
import type { Component } from "../runtime/component.ts";
import type { FilePositions } from "../runtime/file-positions.ts";
import type { Intake } from "../runtime/intake.ts";
import {
  advance,
  type FollowedFile,
  isMissing,
  NoRegularFileError,
  openFile,
  positionOf,
  reopenAt,
  successorsOf,
} from "./followed-file.ts";
import { patientlyRetrying, SYSTEM_WAIT, type Wait } from "./intake-patience.ts";
import { JsonlSubmission, type JsonlTally } from "./jsonl-submission.ts";

export interface JsonlFileOptions {
  readonly intake: Intake;
  readonly path: string;
  readonly maxLineBytes?: number;
  /** Time between two looks at a file that has not grown. Milliseconds; default 250. */
  readonly pollIntervalMs?: number;
  /** Where it is kept how far the file was stored. Default: nowhere, and a start reads it from its beginning. */
  readonly positions?: FilePositions;
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
/** How much may have to be read again after a crash in the middle of a long file. */
const SAVE_EVERY_BYTES = 8 * 1024 * 1024;

/**
 * Follows a file of events, one per line, from its beginning and as it grows. A file that is replaced (rotation) is read
 * to its end first; a new or truncated one is read from its beginning. A start goes on where the last one has stored
 * everything, also in files that were moved away meanwhile. Reading a line twice is harmless: it is recognized.
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

class Follower {
  readonly #options: JsonlFileOptions;
  readonly #stop = new AbortController();
  readonly #wait: Wait;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #file: FollowedFile | undefined;
  /** Files between the one that is read and the one at the path. */
  #next: string[] = [];
  #resumed = false;
  /** What has been saved, as inode and bytes. */
  #saved = "";
  #savedBytes = 0;
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
    const { path } = this.#options;
    // That a file is missing, or not ours yet to read, may change. What is a folder or a device was never meant.
    const status = await stat(path).catch(() => undefined);
    if (status !== undefined && !status.isFile()) throw new NoRegularFileError(path);
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
    await this.#save().catch(() => {});
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
      // It goes on where it was, if that is known.
      this.#resumed = false;
      await this.#close();
      return false;
    }
  }

  async #open(): Promise<FollowedFile | undefined> {
    const resumed = await this.#resume();
    const file = resumed ?? (await openFile(this.#next.shift() ?? this.#options.path));
    if (file === undefined) return undefined;
    this.#savedBytes = file.lineStart;
    this.#submission = this.#newSubmission(file);
    return file;
  }

  /** Once, at the start: the file that was being read, wherever it is now. */
  async #resume(): Promise<FollowedFile | undefined> {
    const { positions, path } = this.#options;
    if (this.#resumed || positions === undefined) return undefined;
    const known = await positions.load(path);
    const file = known === undefined ? undefined : await reopenAt(path, known);
    this.#resumed = true;
    if (file?.replaced === true) this.#next = [...(await successorsOf(path, file))];
    return file;
  }

  async #readOn(file: FollowedFile): Promise<boolean> {
    const { bytesRead } = await file.handle.read(this.#buffer, 0, CHUNK_BYTES, file.position);
    if (bytesRead > 0) {
      const chunk = this.#buffer.subarray(0, bytesRead);
      file.replaced = false;
      advance(file, chunk);
      await this.#submission.push(chunk);
      if (file.lineStart - this.#savedBytes >= SAVE_EVERY_BYTES) await this.#save();
      return true;
    }
    await this.#save();
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

  /** Everything that was read is stored, and that is noted. A note that cannot be kept costs a second reading at most. */
  async #save(): Promise<void> {
    const { positions, path, onError } = this.#options;
    const file = this.#file;
    await this.#submission.settle();
    if (file === undefined || positions === undefined) return;
    const now = `${file.inode} ${file.lineStart}`;
    if (now === this.#saved) return;
    this.#saved = now;
    this.#savedBytes = file.lineStart;
    try {
      await positions.save(path, await positionOf(file));
    } catch (error) {
      onError(error);
    }
  }

  async #changeOf(file: FollowedFile): Promise<"none" | "truncated" | "replaced"> {
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

  #newSubmission(from: Pick<FollowedFile, "position" | "lines"> = { position: 0, lines: 0 }): JsonlSubmission {
    const { intake, maxLineBytes } = this.#options;
    return new JsonlSubmission({
      intake,
      receiver: "jsonl_file",
      backfill: true,
      ...(maxLineBytes === undefined ? undefined : { maxLineBytes }),
      onRefusal: patientlyRetrying(this.#wait, this.#stop.signal),
      leavesOutHopeless: true,
      startsAt: { bytes: from.position, lines: from.lines },
    });
  }
}
