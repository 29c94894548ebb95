import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CancelTimer, Clock } from "../clock.ts";
import { textOfError } from "../diagnostics.ts";
import { leaveFolder, removeFile, removeFolder, type Segment, SegmentFiles } from "./segment-files.ts";
import { adoptAbandoned, destinationFolder, namesIn } from "./spool-folders.ts";
import { readSegment, type SpooledEvent, spoolLine } from "./spool-line.ts";

export type SpoolDropReason = "spool_full" | "spool_write_failed";

export interface SpoolSettings {
  readonly directory: string;
  /** Names where the events are to go. */
  readonly destination: string;
  readonly maxBytes: number;
  readonly fsync: boolean;
  /** Events in one batch at most. */
  readonly maxBatchSize: number;
  /** Events held in memory until they are written, at most. */
  readonly maxWaiting: number;
  readonly clock: Clock;
  readonly onDropped: (events: readonly SpooledEvent[], reason: SpoolDropReason, problem: string) => void;
  /** Something is wrong that cost no event, or events of another process. */
  readonly onProblem: (problem: string) => void;
}

/** The oldest events of a spool, to be sent together. Exactly one of the two methods is called, once. */
export interface SpoolBatch {
  readonly events: readonly SpooledEvent[];
  /** Own events that were written and cannot be read back. */
  readonly lost: number;
  /** They have met their fate. */
  settle(): void;
  /** They have not, and stay the oldest. */
  putBack(): void;
}

/** The part that only events with a state may use, as in the buffer. */
const SHARE_FOR_ALL = 7 / 8;
const RETRY_WRITE_MS = 1_000;
const TOUCH_INTERVAL_MS = 60_000;

/**
 * A queue on disk, first in, first out. Events wait in memory for the turn in which they are written; when there is no
 * room to wait, or no time left, the oldest are written at once.
 */
export class Spool {
  readonly #settings: SpoolSettings;
  readonly #folder: string;
  readonly #files: SegmentFiles;
  #waiting: SpooledEvent[] = [];
  #adopted: string[] = [];
  #cancelSoon: CancelTimer | undefined;
  #cancelTouch: CancelTimer | undefined;
  #taken = 0;
  /** Events left to others. */
  #left = 0;

  constructor(settings: SpoolSettings) {
    this.#settings = settings;
    this.#folder = destinationFolder(settings.directory, settings.destination);
    const { maxBytes, maxBatchSize, fsync } = settings;
    this.#files = new SegmentFiles({ folder: this.#folder, maxBytes, maxSegmentEvents: maxBatchSize, fsync });
  }

  /** Own events in memory: waiting to be written, or taken from there. */
  get inMemory(): number {
    return this.#waiting.length + this.#taken;
  }

  /** Own events on disk. */
  get onDisk(): number {
    return this.#left + this.#files.events;
  }

  write(event: SpooledEvent): void {
    if (this.#waiting.length >= this.#settings.maxWaiting && !this.#writeChunk()) {
      this.#settings.onDropped([event], "spool_write_failed", "the spool cannot be written, and nothing more can wait");
      return;
    }
    this.#waiting.push(event);
    this.#drainSoon();
  }

  /** For events that were waiting elsewhere in memory: they may wait here as well. */
  writeAll(events: readonly SpooledEvent[]): void {
    this.#waiting = this.#waiting.length === 0 ? [...events] : this.#waiting.concat(events);
    if (events.length > 0) this.#drainSoon();
  }

  /** Takes over what processes have left that are no more. @returns how many spools there are to send. */
  adopt(): number {
    this.#adopted.push(...adoptAbandoned(this.#folder, this.#settings.clock.now()));
    return this.#adopted.length;
  }

  /** The oldest events, from disk; only where nothing can be written, from memory. */
  take(): SpoolBatch | undefined {
    // What is being tried must not be lost with the process.
    if (this.#files.events === 0) this.#writeChunk();
    const segment = this.#files.oldest();
    if (segment !== undefined) return this.#takeSegment(segment);
    const events = this.#waiting.slice(0, this.#settings.maxBatchSize);
    if (events.length === 0) return undefined;
    this.#waiting = this.#waiting.slice(events.length);
    this.#taken += events.length;
    return {
      events,
      lost: 0,
      settle: () => {
        this.#taken -= events.length;
      },
      putBack: () => {
        this.#taken -= events.length;
        this.#waiting = [...events, ...this.#waiting];
      },
    };
  }

  /** The oldest events of an adopted spool. */
  takeAdopted(): SpoolBatch | undefined {
    for (let folder = this.#adopted[0]; folder !== undefined; folder = this.#adopted[0]) {
      const name = namesIn(folder).find((each) => each.endsWith(".jsonl"));
      if (name !== undefined) {
        const path = join(folder, name);
        return { events: this.#read(path), lost: 0, settle: () => removeFile(path), putBack: () => undefined };
      }
      removeFolder(folder);
      this.#adopted.shift();
    }
    return undefined;
  }

  /** Writes everything that waits, in this turn. What cannot be written is dropped. */
  writeNow(): void {
    while (this.#waiting.length > 0) {
      if (this.#writeChunk()) continue;
      const lost = this.#waiting;
      this.#waiting = [];
      this.#settings.onDropped(lost, "spool_write_failed", "the spool cannot be written");
    }
  }

  /** Resolves when what has been written so far is on the device, where that is asked for. */
  synced(): Promise<void> {
    return this.#files.synced();
  }

  /** Leaves everything to whoever comes next. */
  release(): void {
    this.writeNow();
    this.#left += this.#files.events;
    this.#files.release();
    for (const folder of this.#adopted) leaveFolder(folder);
    this.#adopted = [];
    this.#cancelTouch?.();
    this.#cancelTouch = undefined;
    this.#cancelSoon?.();
    this.#cancelSoon = undefined;
  }

  #takeSegment(segment: Segment): SpoolBatch {
    const events = this.#read(segment.path);
    return {
      events,
      lost: Math.max(segment.events - events.length, 0),
      settle: () => this.#files.remove(segment),
      putBack: () => undefined,
    };
  }

  #read(path: string): readonly SpooledEvent[] {
    try {
      const { events, damaged } = readSegment(readFileSync(path));
      if (damaged > 0) this.#settings.onProblem(`${damaged} lines of a spool segment are damaged and left out`);
      return events;
    } catch (error) {
      this.#settings.onProblem(`a spool segment cannot be read: ${textOfError(error)}`);
      return [];
    }
  }

  #drainSoon(delayMs?: number): void {
    const { clock } = this.#settings;
    if (this.#cancelSoon !== undefined) return;
    const drain = (): void => {
      this.#cancelSoon = undefined;
      const written = this.#writeChunk();
      if (this.#waiting.length > 0) this.#drainSoon(written ? undefined : RETRY_WRITE_MS);
    };
    this.#cancelSoon = delayMs === undefined ? clock.soon(drain) : clock.after(delayMs, drain);
  }

  /** Writes the oldest that wait. @returns whether there is room again, because they are written or dropped. */
  #writeChunk(): boolean {
    const events = this.#waiting.slice(0, this.#settings.maxBatchSize);
    if (events.length === 0) return true;
    const lines: string[] = [];
    const displaced: SpooledEvent[] = [];
    let bytes = 0;
    for (const event of events) {
      const line = spoolLine(event);
      const length = Buffer.byteLength(line);
      if (this.#files.hasRoom(bytes + length, event.event.state === undefined ? SHARE_FOR_ALL : 1)) {
        lines.push(line);
        bytes += length;
      } else displaced.push(event);
    }
    try {
      if (lines.length > 0) this.#files.append(lines);
    } catch (error) {
      this.#settings.onProblem(textOfError(error));
      return false;
    }
    this.#waiting = this.#waiting.slice(events.length);
    if (displaced.length > 0) this.#settings.onDropped(displaced, "spool_full", "the spool is full");
    this.#touchLater();
    return true;
  }

  #touchLater(): void {
    this.#cancelTouch ??= this.#settings.clock.after(TOUCH_INTERVAL_MS, () => {
      this.#cancelTouch = undefined;
      if (this.#files.events === 0) return;
      this.#files.touch(this.#settings.clock.now());
      this.#touchLater();
    });
  }
}
