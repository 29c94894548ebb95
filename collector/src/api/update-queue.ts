import type { ChildRecord } from "../core/index.ts";

/** A child as of its latest change. */
export interface ChildUpdate {
  readonly inputId: number;
  readonly record: ChildRecord;
}

/** The oldest waiting updates, in the order of their input ids. */
export interface TakenUpdates {
  readonly updates: readonly ChildUpdate[];
  /** The update that will follow them, if it waits already. */
  readonly next: ChildUpdate | undefined;
  /** Updates before these were given up: there were more than could be kept. */
  readonly overflowed: boolean;
}

/**
 * Changes that wait to be sent: of each child the newest, so that it never holds more than there are children. The records
 * are those of the projection and cost nothing of their own.
 */
export class UpdateQueue {
  readonly #updates = new Map<number, ChildUpdate>();
  readonly #capacity: number;
  #overflowed = false;

  /** @param capacity children that may wait; with one more, all are given up */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(update: ChildUpdate): void {
    const { key } = update.record;
    // A child that changed again belongs at the end: updates stay in the order of their ids.
    this.#updates.delete(key);
    this.#updates.set(key, update);
    if (this.#updates.size > this.#capacity) this.overflow();
  }

  /** Gives up everything that waits. */
  overflow(): void {
    this.#updates.clear();
    this.#overflowed = true;
  }

  take(limit: number): TakenUpdates {
    const updates: ChildUpdate[] = [];
    for (const [key, update] of this.#updates) {
      if (updates.length >= limit) break;
      updates.push(update);
      this.#updates.delete(key);
    }
    const [next] = this.#updates.values();
    const overflowed = this.#overflowed;
    this.#overflowed = false;
    return { updates, next, overflowed };
  }

  clear(): void {
    this.#updates.clear();
    this.#overflowed = false;
  }
}
