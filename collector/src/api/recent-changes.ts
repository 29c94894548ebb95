import type { ChildUpdate } from "./update-queue.ts";

/**
 * The children that changed last, each as of its newest change: what readers that come back at the same time have missed
 * is looked up once for all of them, and kept in memory once.
 */
export class RecentChanges {
  readonly #updates = new Map<number, ChildUpdate>();
  readonly #capacity: number;
  /** Everything that changed after this input is here; `undefined` while nothing is known. */
  #completeAfter: number | undefined;

  /** @param capacity children that are kept; with one more, the one that changed longest ago is forgotten */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** @param missed every child that has changed after this input until now, in the order of the changes */
  replace(completeAfter: number, missed: readonly ChildUpdate[]): void {
    this.clear();
    this.#completeAfter = completeAfter;
    for (const update of missed) this.add(update);
  }

  /** Must be called for every change from `replace` on. */
  add(update: ChildUpdate): void {
    if (this.#completeAfter === undefined) return;
    const { key } = update.record;
    this.#updates.delete(key);
    this.#updates.set(key, update);
    if (this.#updates.size <= this.#capacity) return;
    for (const [oldest, { inputId }] of this.#updates) {
      this.#updates.delete(oldest);
      this.#completeAfter = inputId;
      return;
    }
  }

  /** What has changed after an input, in the order of the changes; `undefined` when that is not known here. */
  since(after: number): readonly ChildUpdate[] | undefined {
    if (this.#completeAfter === undefined || after < this.#completeAfter) return undefined;
    return [...this.#updates.values()].filter(({ inputId }) => inputId > after);
  }

  clear(): void {
    this.#updates.clear();
    this.#completeAfter = undefined;
  }
}
