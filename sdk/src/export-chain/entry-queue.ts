import type { LifecycleEvent } from "@agent-lifecycle/proto";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";

/** An event, and the record of its emission: times, trace context, resource and scope. */
export interface Entry {
  readonly event: LifecycleEvent;
  readonly record: ReadableLogRecord;
  /** About how much memory it holds. */
  readonly bytes: number;
  /** It has lain in a spool. */
  readonly isOld?: true;
}

const COMPACT_FROM = 1024;

/** First in, first out; both ends cost the same at any length. Entries are numbered from 0 in the order they came. */
export class EntryQueue {
  #entries: Entry[] = [];
  #head = 0;
  #taken = 0;

  get length(): number {
    return this.#entries.length - this.#head;
  }

  /** The number of the oldest entry waiting, or of the next to come when none is. */
  get headNumber(): number {
    return this.#taken;
  }

  /** The number that the next entry will get. */
  get nextNumber(): number {
    return this.#taken + this.length;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  take(most: number): readonly Entry[] {
    const taken = this.#entries.slice(this.#head, this.#head + most);
    this.#head += taken.length;
    this.#taken += taken.length;
    if (this.#head === this.#entries.length) {
      this.#entries = [];
      this.#head = 0;
    } else if (this.#head >= COMPACT_FROM && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }
}
