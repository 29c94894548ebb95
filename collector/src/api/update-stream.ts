import type { Writable } from "node:stream";
import type { SummaryView } from "@agent-lifecycle/proto";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import type { ProjectionUpdate, UpdateFeed } from "../runtime/update-feed.ts";
import { type StreamBatch, StreamReader } from "./stream-reader.ts";
import { type ChildUpdate, framesOf, resyncFrame, summaryFrame } from "./update-batch.ts";

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
/** Children written at one time: at most this many are serialized between two turns of the event loop. */
const MAX_FRAMES_PER_BATCH = 250;
/** Changed children that wait for their turn; with more, every reader is told to list anew. */
const MAX_WAITING_CHILDREN = 20_000;
/** Changed children that a returning reader is sent; with more it is told to list anew. */
const MAX_RESUMED_CHILDREN = 2_000;

/**
 * Fans changes out to the connections of `/api/v1/stream`. Each child's newest change is serialized once for all of them;
 * while nobody listens it costs nothing. No reader slows the writer or another reader, and none is buffered without bound.
 */
export class UpdateStream {
  readonly #options: UpdateStreamOptions;
  readonly #readers = new Set<StreamReader>();
  readonly #waiting = new Map<number, ChildUpdate>();
  #mustResync = false;
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: UpdateStreamOptions) {
    this.#options = options;
  }

  get readers(): number {
    return this.#readers.size;
  }

  get isFull(): boolean {
    return this.#closed || this.#readers.size >= (this.#options.maxReaders ?? DEFAULT_MAX_READERS);
  }

  /**
   * Begins to write to a connection; stops when that closes.
   * @param after id of the last input the reader knows of; without one it begins with now
   */
  open(output: Writable, after: number | undefined): void {
    const reader = new StreamReader(output);
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
    const missed = after > summary.position ? [] : reader.childrenChangedSince(after, MAX_RESUMED_CHILDREN + 1);
    // A position beyond the log belongs to another log: the database was replaced.
    if (after > summary.position || missed.length > MAX_RESUMED_CHILDREN) {
      return retry + resyncFrame(summary.position) + summaryFrame(summary, true);
    }
    const updates = missed
      .filter(({ record }) => record.state !== undefined)
      .map(({ record, updatedInputId }) => ({ record, inputId: updatedInputId }));
    return retry + textOf(framesOf(updates, undefined)) + summaryFrame(summary, true);
  }

  #listen(): void {
    if (this.#unsubscribe !== undefined) return;
    this.#unsubscribe = this.#options.updates.subscribe((updates) => this.#take(updates));
    const heartbeatMs = this.#options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS;
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
    this.#heartbeat.unref();
  }

  #rest(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
    this.#mustResync = false;
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
        if (record.state === undefined) continue;
        this.#waiting.delete(record.key);
        this.#waiting.set(record.key, { inputId, record });
      }
    }
    if (this.#waiting.size > MAX_WAITING_CHILDREN) {
      this.#waiting.clear();
      this.#mustResync = true;
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
    const updates = this.#takeUpdates();
    const [next] = this.#waiting.values();
    const summary = this.#options.summaryView();
    const frames = framesOf(updates, next);
    const batch: StreamBatch = {
      frames,
      summary: summaryFrame(summary, next === undefined),
      position: next === undefined ? summary.position : next.inputId - 1,
      mustResync: this.#mustResync,
    };
    const resync = this.#mustResync ? resyncFrame(batch.position) : "";
    this.#mustResync = false;
    const text = resync + textOf(frames) + batch.summary;
    for (const reader of this.#readers) reader.offer(batch, text);
    if (next !== undefined) this.#plan();
  }

  #takeUpdates(): readonly ChildUpdate[] {
    const updates: ChildUpdate[] = [];
    for (const [key, update] of this.#waiting) {
      if (updates.length >= MAX_FRAMES_PER_BATCH) break;
      updates.push(update);
      this.#waiting.delete(key);
    }
    return updates;
  }
}

function textOf(frames: readonly { readonly text: string }[]): string {
  return frames.map(({ text }) => text).join("");
}
