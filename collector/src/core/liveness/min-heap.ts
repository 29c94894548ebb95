/** A binary heap of values ordered by a number, the smallest first. */
export class MinHeap<Value> {
  readonly #values: Value[] = [];
  readonly #rank: (value: Value) => number;

  constructor(rank: (value: Value) => number) {
    this.#rank = rank;
  }

  get size(): number {
    return this.#values.length;
  }

  peek(): Value | undefined {
    return this.#values[0];
  }

  push(value: Value): void {
    const values = this.#values;
    let index = values.length;
    values.push(value);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#rankAt(parent) <= this.#rankAt(index)) return;
      this.#swap(parent, index);
      index = parent;
    }
  }

  pop(): Value | undefined {
    const values = this.#values;
    const first = values[0];
    const last = values.pop();
    if (values.length === 0 || last === undefined) return first;
    values[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      if (left >= values.length) return first;
      const right = left + 1;
      const smaller = right < values.length && this.#rankAt(right) < this.#rankAt(left) ? right : left;
      if (this.#rankAt(index) <= this.#rankAt(smaller)) return first;
      this.#swap(index, smaller);
      index = smaller;
    }
  }

  #rankAt(index: number): number {
    return this.#rank(this.#values[index] as Value);
  }

  #swap(first: number, second: number): void {
    const values = this.#values;
    const value = values[first] as Value;
    values[first] = values[second] as Value;
    values[second] = value;
  }
}
