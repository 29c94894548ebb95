import { canonicalEvent, type LifecycleEvent } from "@agent-lifecycle/proto";
import type { CancelTimer, Clock } from "../clock.ts";
import type { DeliveryCounters, DropReason } from "../counters.ts";
import { type Diagnostics, textOfError } from "../diagnostics.ts";
import type { JsonlTarget } from "./jsonl-target.ts";

export interface JsonlWriterSettings {
  readonly target: JsonlTarget;
  readonly maxBufferedEvents: number;
  readonly clock: Clock;
  readonly counters: DeliveryCounters;
  readonly diagnostics: Diagnostics;
}

interface FlushWaiter {
  readonly target: number;
  readonly resolve: () => void;
}

/** Characters joined into one write; a longer single line goes alone. */
const CHUNK_LENGTH = 256 * 1024;

/**
 * Writes events as canonical lines, in order, one write at a time. An event keeps its original time and identity, so a
 * collector that reads the file later takes it as backfill and drops what it already has.
 */
export class JsonlWriter {
  readonly #settings: JsonlWriterSettings;
  #waiting: string[] = [];
  #writing: readonly string[] = [];
  #accepted = 0;
  #running = false;
  #failing = false;
  #waiters: FlushWaiter[] = [];
  #cancelSoon: CancelTimer | undefined;

  constructor(settings: JsonlWriterSettings) {
    this.#settings = settings;
  }

  write(event: LifecycleEvent): void {
    if (this.pending() >= this.#settings.maxBufferedEvents) {
      this.#drop("jsonl_buffer_full", 1, "the JSONL destination is too slow");
      return;
    }
    this.#waiting.push(`${canonicalEvent(event)}\n`);
    this.#accepted += 1;
    if (!this.#running) this.#cancelSoon ??= this.#settings.clock.soon(() => void this.#run());
  }

  pending(): number {
    return this.#waiting.length + this.#writing.length;
  }

  /** Resolves when every line taken before the call is written or dropped. */
  flush(): Promise<void> {
    if (this.pending() === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push({ target: this.#accepted, resolve });
      void this.#run();
    });
  }

  /**
   * Writes everything that is open in this turn. A chunk whose asynchronous write is under way is written again: a
   * line twice is one event, a line lost is none.
   */
  writeNow(): void {
    const lines = [...this.#writing, ...this.#waiting];
    this.#writing = [];
    this.#waiting = [];
    if (lines.length > 0) {
      try {
        this.#settings.target.appendSync(lines.join(""));
        this.#settings.counters.writtenToJsonl += lines.length;
      } catch (error) {
        this.#drop("jsonl_write_failed", lines.length, textOfError(error));
      }
    }
    this.#resolveWaiters();
  }

  async close(): Promise<void> {
    this.#cancelSoon?.();
    try {
      await this.#settings.target.close();
    } catch (error) {
      this.#settings.diagnostics.report("jsonl_write_failed", textOfError(error));
    }
  }

  async #run(): Promise<void> {
    this.#cancelSoon = undefined;
    if (this.#running) return;
    this.#running = true;
    while (this.#waiting.length > 0) {
      const chunk = this.#takeChunk();
      this.#writing = chunk;
      let failure: string | undefined;
      try {
        await this.#settings.target.append(chunk.join(""));
      } catch (error) {
        failure = textOfError(error);
      }
      // `writeNow` may have decided about this chunk in the meantime.
      if (this.#writing === chunk) {
        this.#writing = [];
        if (failure === undefined) {
          this.#settings.counters.writtenToJsonl += chunk.length;
          this.#failing = false;
        } else this.#drop("jsonl_write_failed", chunk.length, failure);
      }
      this.#resolveWaiters();
    }
    this.#running = false;
  }

  #takeChunk(): readonly string[] {
    let length = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || length < CHUNK_LENGTH)) {
      length += this.#waiting[count]?.length ?? 0;
      count += 1;
    }
    const chunk = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return chunk;
  }

  /** Every drop is counted; the first of a row is also told. */
  #drop(reason: DropReason, count: number, problem: string): void {
    this.#settings.counters.drop(reason, count);
    if (this.#failing) return;
    this.#failing = true;
    this.#settings.diagnostics.report("jsonl_write_failed", problem);
  }

  #resolveWaiters(): void {
    const below = this.#accepted - this.pending();
    const done = this.#waiters.filter((waiter) => waiter.target <= below);
    if (done.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.target > below);
    for (const waiter of done) waiter.resolve();
  }
}
