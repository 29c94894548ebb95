/**
 * A map that is written to: the given one stays as it is, and is copied when the first change is made. The oldest entry
 * goes when there are too many.
 */
export class BoundedMap<Value> {
  readonly #limit: number;
  readonly #original: ReadonlyMap<string, Value>;
  #copy: Map<string, Value> | undefined;

  constructor(original: ReadonlyMap<string, Value>, limit: number) {
    this.#original = original;
    this.#limit = limit;
  }

  get current(): ReadonlyMap<string, Value> {
    return this.#copy ?? this.#original;
  }

  get(key: string): Value | undefined {
    return this.current.get(key);
  }

  /** @returns what had to go for it. */
  set(key: string, value: Value): Value | undefined {
    const copy = this.#writable();
    copy.set(key, value);
    if (copy.size <= this.#limit) return undefined;
    const [oldest, forgotten] = copy.entries().next().value as [string, Value];
    copy.delete(oldest);
    return forgotten;
  }

  delete(key: string): void {
    if (this.current.has(key)) this.#writable().delete(key);
  }

  #writable(): Map<string, Value> {
    this.#copy ??= new Map(this.#original);
    return this.#copy;
  }
}
