import { isJsonObject, parseTimestamp } from "@agent-lifecycle/proto";

/**
 * Reads members of a JSON object and notes every problem with its path, so that one reading names all of them. A member
 * that nobody asked for is a problem too: an expectation that is not understood must not pass for one that holds.
 */
export class MemberReader {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #problems: string[];
  readonly #read = new Set<string>();

  constructor(value: unknown, path: string, problems: string[]) {
    this.#members = isJsonObject(value) ? value : {};
    this.#path = path;
    this.#problems = problems;
    if (!isJsonObject(value)) problems.push(`${path}: must be an object`);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#members, name);
  }

  /** The member as it is. */
  raw(name: string): unknown {
    this.#read.add(name);
    if (!this.has(name)) this.#problem(name, "is missing");
    return this.#members[name];
  }

  text(name: string): string {
    const value = this.raw(name);
    if (typeof value === "string") return value;
    if (this.has(name)) this.#problem(name, "must be a string");
    return "";
  }

  /** A non-negative safe integer. */
  count(name: string): number {
    const value = this.raw(name);
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    if (this.has(name)) this.#problem(name, "must be a non-negative integer");
    return 0;
  }

  flag(name: string): boolean {
    const value = this.raw(name);
    if (typeof value === "boolean") return value;
    if (this.has(name)) this.#problem(name, "must be true or false");
    return false;
  }

  /** An RFC 3339 UTC time, as milliseconds since the epoch. */
  time(name: string): number {
    const parsed = parseTimestamp(this.text(name));
    if (parsed !== undefined) return parsed;
    if (typeof this.#members[name] === "string") this.#problem(name, "must be an RFC 3339 UTC time");
    return 0;
  }

  oneOf<const Value extends string | null>(name: string, allowed: readonly [Value, ...Value[]]): Value {
    const value = this.raw(name);
    for (const candidate of allowed) if (candidate === value) return candidate;
    if (this.has(name)) this.#problem(name, `must be one of ${allowed.join(", ")}`);
    return allowed[0];
  }

  texts(name: string): readonly string[] {
    return this.#items(name).filter((item, index) =>
      this.#check(typeof item === "string", name, index, "a string"),
    ) as string[];
  }

  eachOneOf<const Value extends string>(name: string, allowed: readonly Value[]): readonly Value[] {
    const isAllowed = (item: unknown): item is Value => allowed.some((candidate) => candidate === item);
    return this.#items(name).filter((item, index): item is Value =>
      this.#check(isAllowed(item), name, index, "a known name"),
    );
  }

  /** Pairs of non-negative safe integers. */
  ranges(name: string): readonly (readonly [number, number])[] {
    return this.#items(name).filter((item, index): item is readonly [number, number] =>
      this.#check(isRange(item), name, index, "a pair of non-negative integers, the lower one first"),
    );
  }

  objects<Item>(name: string, read: (reader: MemberReader, path: string) => Item): readonly Item[] {
    return this.#items(name).map((item, index) => {
      const path = `${this.#path}.${name}.${index}`;
      const reader = new MemberReader(item, path, this.#problems);
      const value = read(reader, path);
      reader.finish();
      return value;
    });
  }

  /** Reads a member object whole. */
  object<Value>(name: string, read: (reader: MemberReader) => Value): Value {
    const reader = new MemberReader(this.raw(name), `${this.#path}.${name}`, this.#problems);
    const value = read(reader);
    reader.finish();
    return value;
  }

  /** Notes a problem with the object itself. */
  reject(text: string): void {
    this.#problems.push(`${this.#path}: ${text}`);
  }

  /** To be called last: names the members that were not asked for. */
  finish(): void {
    for (const name of Object.keys(this.#members)) if (!this.#read.has(name)) this.#problem(name, "is not known here");
  }

  #items(name: string): readonly unknown[] {
    const value = this.raw(name);
    if (Array.isArray(value)) return value;
    if (this.has(name)) this.#problem(name, "must be a list");
    return [];
  }

  #check(isRight: boolean, name: string, index: number, expected: string): boolean {
    if (!isRight) this.#problem(`${name}.${index}`, `must be ${expected}`);
    return isRight;
  }

  #problem(name: string, text: string): void {
    this.#problems.push(`${this.#path}.${name}: ${text}`);
  }
}

function isRange(value: unknown): value is readonly [number, number] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((bound) => Number.isSafeInteger(bound) && bound >= 0) &&
    value[0] <= value[1]
  );
}
