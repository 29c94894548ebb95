/** The value that stands for all sources beyond the bound. */
const OTHER_SOURCES = "other";
const MAX_SOURCES = 100;

/**
 * Names of sources as values of a label. Producers choose them, so that there could be any number: the first hundred have
 * their names, and the rest share one.
 */
export class BoundedSources {
  readonly #known = new Set<string>();

  label(source: string): string {
    if (this.#known.has(source)) return source;
    if (this.#known.size >= MAX_SOURCES) return OTHER_SOURCES;
    this.#known.add(source);
    return source;
  }
}
