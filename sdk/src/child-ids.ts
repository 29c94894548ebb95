/** Ended ids remembered; older ones are forgotten. */
const MAX_ENDED = 16_384;

/**
 * The child ids of one run. An id used twice would make two children's events conflict at the collector, where it looks
 * like corruption; here it is a plain mistake that can be named.
 */
export class ChildIds {
  readonly #live = new Set<string>();
  readonly #ended = new Set<string>();

  isTaken(childId: string): boolean {
    return this.#live.has(childId) || this.#ended.has(childId);
  }

  begin(childId: string): void {
    this.#live.add(childId);
  }

  end(childId: string): void {
    if (!this.#live.delete(childId)) return;
    this.#ended.add(childId);
    if (this.#ended.size <= MAX_ENDED) return;
    const [oldest] = this.#ended;
    if (oldest !== undefined) this.#ended.delete(oldest);
  }
}
