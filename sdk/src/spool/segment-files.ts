import {
  closeSync,
  constants,
  existsSync,
  fsync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../make-folder.ts";
import { bytesIn, ownFolderName } from "./spool-folders.ts";

/** Events name what an organization works on: nobody but the owner reads them. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** A new file, always: a link that somebody has put in its place is not followed. */
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;
const MAX_SEGMENT_BYTES = 256 * 1024;

/** A whole, closed segment and how many events it holds. */
export interface Segment {
  readonly path: string;
  readonly events: number;
  readonly bytes: number;
}

export interface SegmentFilesSettings {
  /** Where the spools of this destination lie. */
  readonly folder: string;
  /** Bytes of all spools of the destination at most; those of others are counted once, when this one begins. */
  readonly maxBytes: number;
  /** Events in a segment at most: a segment is sent as one batch and removed as one. */
  readonly maxSegmentEvents: number;
  /** Whether each write is brought to the device before a flush is complete. */
  readonly fsync: boolean;
}

interface OpenSegment {
  readonly path: string;
  readonly descriptor: number;
  events: number;
  bytes: number;
}

/**
 * The spool of one process on disk: numbered segments of event lines in a folder of its own. Written synchronously, in
 * pieces small enough for the page cache, so that order and count hold at any moment, also in the process's last one.
 */
export class SegmentFiles {
  readonly #settings: SegmentFilesSettings;
  readonly #closed: Segment[] = [];
  #own: string | undefined;
  #open: OpenSegment | undefined;
  #nextNumber = 1;
  /** Bytes that may still be written; known when the first are. */
  #budget: number | undefined;
  #events = 0;
  #syncing: Promise<void> = Promise.resolve();

  constructor(settings: SegmentFilesSettings) {
    this.#settings = settings;
  }

  /** Events in all segments. */
  get events(): number {
    return this.#events;
  }

  /** Whether so many bytes more are allowed; `share` is the part of the whole that may be used, up to 1. */
  hasRoom(bytes: number, share: number): boolean {
    const { folder, maxBytes } = this.#settings;
    this.#budget ??= maxBytes - bytesIn(folder);
    return this.#budget - bytes >= maxBytes * (1 - share);
  }

  /** Appends whole lines. @throws Error when they may not be there in full. */
  append(lines: readonly string[]): void {
    const bytes = Buffer.from(lines.join(""));
    const segment = this.#segmentFor(lines.length);
    try {
      for (let written = 0; written < bytes.byteLength; ) written += writeSync(segment.descriptor, bytes, written);
    } catch (error) {
      this.#cutBack(segment);
      throw error;
    }
    segment.events += lines.length;
    segment.bytes += bytes.byteLength;
    if (this.#budget !== undefined) this.#budget -= bytes.byteLength;
    this.#events += lines.length;
    if (this.#settings.fsync) this.#sync(segment.descriptor);
    if (segment.events >= this.#settings.maxSegmentEvents || segment.bytes >= MAX_SEGMENT_BYTES) this.#seal();
  }

  /** The oldest segment, closed: what is written from now on goes to others. */
  oldest(): Segment | undefined {
    if (this.#closed.length === 0) this.#seal();
    return this.#closed[0];
  }

  /** Everything in the segment has met its fate. */
  remove(segment: Segment): void {
    const index = this.#closed.indexOf(segment);
    if (index < 0) return;
    this.#closed.splice(index, 1);
    this.#events -= segment.events;
    if (this.#budget !== undefined) this.#budget += segment.bytes;
    removeFile(segment.path);
  }

  /** Says to others that this process lives, whom they cannot look at. */
  touch(nowMs: number): void {
    if (this.#own === undefined) return;
    try {
      utimesSync(this.#own, nowMs / 1_000, nowMs / 1_000);
    } catch {
      // The folder is gone; the next write makes a new one.
    }
  }

  /** Resolves when everything written is on the device, where that is asked for. */
  synced(): Promise<void> {
    return this.#syncing;
  }

  /** Leaves what there is to whoever comes next; a later `append` begins a new folder. */
  release(): void {
    this.#seal();
    const own = this.#own;
    this.#own = undefined;
    this.#budget = undefined;
    this.#closed.length = 0;
    this.#events = 0;
    if (own !== undefined) leaveFolder(own);
  }

  #segmentFor(events: number): OpenSegment {
    const { maxSegmentEvents } = this.#settings;
    if (this.#open !== undefined && this.#open.events + events > maxSegmentEvents) this.#seal();
    if (this.#own === undefined || !existsSync(this.#own)) this.#createFolder();
    this.#open ??= this.#createSegment();
    return this.#open;
  }

  #createFolder(): void {
    const { folder } = this.#settings;
    this.#seal();
    makeFolder(folder, FOLDER_MODE);
    const own = join(folder, ownFolderName());
    mkdirSync(own, { mode: FOLDER_MODE });
    this.#own = own;
  }

  #createSegment(): OpenSegment {
    const name = `${String(this.#nextNumber).padStart(10, "0")}.jsonl`;
    this.#nextNumber += 1;
    const path = join(this.#own ?? "", name);
    return { path, descriptor: openSync(path, NEW_FILE, FILE_MODE), events: 0, bytes: 0 };
  }

  #seal(): void {
    const segment = this.#open;
    if (segment === undefined) return;
    this.#open = undefined;
    const close = (): void => closeQuietly(segment.descriptor);
    if (this.#settings.fsync) this.#syncing = this.#syncing.then(close);
    else close();
    const { path, events, bytes } = segment;
    if (events > 0) this.#closed.push({ path, events, bytes });
    else removeFile(path);
  }

  /** A failed write may have left a part, and what it was to hold is written again elsewhere. */
  #cutBack(segment: OpenSegment): void {
    try {
      ftruncateSync(segment.descriptor, segment.bytes);
    } catch {
      // The part is a damaged line then, and what is whole in it comes twice.
    }
    this.#seal();
  }

  #sync(descriptor: number): void {
    const sync = (): Promise<void> => new Promise((resolve) => fsync(descriptor, () => resolve()));
    this.#syncing = this.#syncing.then(sync);
  }
}

function closeQuietly(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // Whatever it is, there is nothing left to do with it.
  }
}

export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Sent again by somebody later, and recognized there.
  }
}

/** Leaves a spool to whoever comes next, also while this process lives on. */
export function leaveFolder(path: string): void {
  if (removeFolder(path)) return;
  try {
    // No process has the number 0: its spool is anybody's at once.
    renameSync(path, path.replace(/([/\\])p\d+(\.[^/\\]*)$/, "$1p0$2"));
  } catch {
    // It is taken over when this process is gone.
  }
}

/** @returns whether the folder is gone, which only an empty one can be. */
export function removeFolder(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}
