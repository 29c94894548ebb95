import type { Writable } from "node:stream";
import type { SummaryView } from "@agent-lifecycle/proto";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import type { ProjectionUpdate, UpdateFeed } from "../runtime/update-feed.ts";
import { framesOf, resyncFrame, summaryFrame } from "./stream-frames.ts";
import { StreamReader } from "./stream-reader.ts";
import { UpdateQueue } from "./update-queue.ts";

export interface UpdateStreamOptions {
  readonly reader: ProjectionReader;
  readonly updates: UpdateFeed;
  readonly summaryView: () => SummaryView;
  /** Changes of this much time go out together, the newest per child. Milliseconds; default 20. */
  readonly coalesceMs?: number;
  /** Time between two signs of life on a quiet stream. Milliseconds; default 15,000. */
  readonly heartbeatMs?: number;
  /** Connections at one time. Default 100. */
  readonly maxReaders?: number;
}

const DEFAULT_COALESCE_MS = 20;
const DEFAULT_HEARTBEAT_MS = 15_000;
const DEFAULT_MAX_READERS = 100;
/** Children written out at one time, between two turns of the event loop. */
const MAX_CHILDREN_PER_FLUSH = 250;
/** Changed children that wait for their turn; with more, every reader is told to list anew. */
const MAX_WAITING_CHILDREN = 50_000;
/** Changed children that a returning reader is sent; with more it is told to list anew. */
const MAX_RESUMED_CHILDREN = 2_000;

/**
 * Fans changes out to the connections of `/api/v1/stream`. Each child's newest change is written out once for all of them;
 * while nobody listens it costs nothing. No reader slows the writer or another reader, and none is buffered without bound.
 */
export class UpdateStream {
  readonly #options: UpdateStreamOptions;
  readonly #readers = new Set<StreamReader>();
  readonly #waiting = new UpdateQueue(MAX_WAITING_CHILDREN);
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: UpdateStreamOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#closed || this.#readers.size >= (this.#options.maxReaders ?? DEFAULT_MAX_READERS);
  }

  /**
   * Whether a reader that knows everything up to `after` can be told what it missed. While the store takes no writes,
   * nobody can say what has changed since its last checkpoint.
   */
  canResume(after: number | undefined): boolean {
    const { reader } = this.#options;
    const last = reader.lastInputId();
    return after === undefined || after === last || reader.listingPosition() >= last;
  }

  /**
   * Begins to write to a connection; stops when that closes.
   * @param after id of the last input the reader knows of; without one it begins with now
   */
  open(output: Writable, after: number | undefined): void {
    const reader = new StreamReader(output, this.#options.summaryView);
    this.#readers.add(reader);
    output.once("close", () => this.#remove(reader));
    this.#listen();
    reader.send(this.#greeting(after));
  }

  /** Ends every connection and takes no further ones. */
  close(): void {
    this.#closed = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
    this.#rest();
  }

  #greeting(after: number | undefined): string {
    const { reader, summaryView } = this.#options;
    const summary = summaryView();
    const retry = "retry: 2000\n\n";
    if (after === undefined || after === summary.position) return retry + summaryFrame(summary, true);
    // A position beyond the log belongs to another log: the database was replaced.
    const isForeign = after > summary.position;
    const missed = isForeign ? [] : reader.childrenChangedSince(after, MAX_RESUMED_CHILDREN + 1);
    if (isForeign || missed.length > MAX_RESUMED_CHILDREN) {
      return retry + resyncFrame(summary.position) + summaryFrame(summary, true);
    }
    const updates = missed
      .filter(({ record }) => record.state !== undefined)
      .map(({ record, updatedInputId }) => ({ record, inputId: updatedInputId }));
    return retry + framesOf({ updates, next: undefined, overflowed: false }, summary);
  }

  #listen(): void {
    if (this.#unsubscribe !== undefined) return;
    this.#unsubscribe = this.#options.updates.subscribe((updates) => this.#take(updates));
    this.#heartbeat = setInterval(() => this.#beat(), this.#options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  #rest(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
  }

  #remove(reader: StreamReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#rest();
  }

  #beat(): void {
    for (const reader of this.#readers) if (!reader.heartbeat()) reader.cut();
  }

  #take(updates: readonly ProjectionUpdate[]): void {
    for (const { inputId, changes } of updates) {
      for (const { after: record } of changes) {
        // What has no state is no row (P12); the summary counts it.
        if (record.state !== undefined) this.#waiting.add({ inputId, record });
      }
    }
    this.#plan();
  }

  #plan(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#flush(), this.#options.coalesceMs ?? DEFAULT_COALESCE_MS);
    this.#timer.unref();
  }

  #flush(): void {
    this.#timer = undefined;
    const taken = this.#waiting.take(MAX_CHILDREN_PER_FLUSH);
    const text = framesOf(taken, this.#options.summaryView());
    for (const reader of this.#readers) reader.offer(taken, text);
    if (taken.next !== undefined) this.#plan();
  }
}
