import type { Writable } from "node:stream";
import type { SummaryView } from "@agent-lifecycle/proto";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import type { ProjectionUpdate, UpdateFeed } from "../runtime/update-feed.ts";
import { RecentChanges } from "./recent-changes.ts";
import { framesOf, resyncFrame, summaryFrame } from "./stream-frames.ts";
import { StreamReader } from "./stream-reader.ts";
import { type ChildUpdate, UpdateQueue } from "./update-queue.ts";

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
  /** With what is asked again and again: whether they may go on reading. */
  readonly #readers = new Map<StreamReader, () => boolean>();
  readonly #waiting = new UpdateQueue(MAX_WAITING_CHILDREN);
  readonly #recent = new RecentChanges(MAX_RESUMED_CHILDREN);
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
    if (after === undefined || after === last || this.#recent.since(after) !== undefined) return true;
    return reader.listingPosition() >= last;
  }

  /**
   * Begins to write to a connection; stops when that closes.
   * @param after id of the last input the reader knows of; without one it begins with now
   * @param mayGoOn asked at every sign of life; the connection ends once it says no
   */
  open(output: Writable, after: number | undefined, mayGoOn: () => boolean = () => true): void {
    const reader = new StreamReader(output, this.#options.summaryView);
    this.#readers.set(reader, mayGoOn);
    output.once("close", () => this.#remove(reader));
    this.#listen();
    this.#greet(reader, after);
  }

  /** Ends every connection and takes no further ones. */
  close(): void {
    this.#closed = true;
    for (const reader of this.#readers.keys()) reader.end();
    this.#readers.clear();
    this.#rest();
  }

  #greet(connection: StreamReader, after: number | undefined): void {
    const summary = this.#options.summaryView();
    connection.send("retry: 2000\n\n");
    // A position beyond the log belongs to another log: the database was replaced.
    const missed = after === undefined ? [] : after > summary.position ? undefined : this.#missedSince(after);
    if (missed === undefined) connection.send(resyncFrame(summary.position));
    if (missed === undefined || missed.length === 0) connection.send(summaryFrame(summary, true));
    else connection.catchUp(missed, summary.position);
  }

  /** `undefined` when it is too much to be told. */
  #missedSince(after: number): readonly ChildUpdate[] | undefined {
    const { reader } = this.#options;
    const known = after === reader.lastInputId() ? [] : this.#recent.since(after);
    if (known !== undefined) return known;
    const missed = reader.childrenChangedSince(after, MAX_RESUMED_CHILDREN + 1);
    if (missed.length > MAX_RESUMED_CHILDREN) return undefined;
    const updates = missed.map(({ record, updatedInputId }) => ({ record, inputId: updatedInputId }));
    this.#recent.replace(after, updates);
    return updates;
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
    this.#recent.clear();
  }

  #remove(reader: StreamReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#rest();
  }

  #beat(): void {
    for (const [reader, mayGoOn] of this.#readers) if (!mayGoOn() || !reader.heartbeat()) reader.cut();
  }

  #take(updates: readonly ProjectionUpdate[]): void {
    for (const { inputId, changes } of updates) {
      for (const { after: record } of changes) {
        // What has no state is no row (P12); the summary counts it.
        if (record.state === undefined) continue;
        const update = { inputId, record };
        this.#waiting.add(update);
        this.#recent.add(update);
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
    for (const reader of this.#readers.keys()) reader.offer(taken, text);
    if (taken.next !== undefined) this.#plan();
  }
}
