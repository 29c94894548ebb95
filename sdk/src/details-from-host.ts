import { defineMember, type JsonValue, MAX_DETAILS_BYTES, MAX_DETAILS_DEPTH } from "@agent-lifecycle/proto";

/** Values looked at in one `details`; the rest is left out. A cycle or a huge graph costs no more than this. */
const MAX_VALUES = 4096;
/** Longer texts cannot fit anyway; cutting them here keeps redaction from reading megabytes. */
const MAX_TEXT_LENGTH = MAX_DETAILS_BYTES + 1024;

export interface HostDetails {
  readonly members: Readonly<Record<string, JsonValue>>;
  /** Dotted paths of members that threw or form a cycle, at most eight. */
  readonly unreadable: readonly string[];
  /** Whether anything was left out because there was too much of it. */
  readonly cut: boolean;
}

/**
 * Turns whatever a host hands over into plain JSON that `sanitizeDetails` can walk: bigint, Date, URL and Error become
 * text, functions and symbols are left out, getters and proxies that throw cost only their own member. Never throws.
 */
export function detailsFromHost(raw: object): HostDetails {
  const reading = new HostReading();
  const members = reading.object(raw, "", 0) ?? {};
  return { members, unreadable: reading.unreadable, cut: reading.cut };
}

class HostReading {
  readonly unreadable: string[] = [];
  cut = false;
  #left = MAX_VALUES;
  readonly #open = new Set<object>();

  object(holder: object, path: string, depth: number): Record<string, JsonValue> | undefined {
    if (!this.#enter(holder, path, depth)) return undefined;
    const kept: Record<string, JsonValue> = {};
    for (const name of this.#names(holder, path)) {
      if (this.#left <= 0) {
        this.cut = true;
        break;
      }
      const value = this.#member(holder, name, path === "" ? name : `${path}.${name}`, depth);
      if (value !== undefined) defineMember(kept, name, value);
    }
    this.#open.delete(holder);
    return kept;
  }

  #member(holder: object, name: string, path: string, depth: number): JsonValue | undefined {
    try {
      return this.#value((holder as Readonly<Record<string, unknown>>)[name], path, depth + 1);
    } catch {
      return this.#refuse(path);
    }
  }

  #value(value: unknown, path: string, depth: number): JsonValue | undefined {
    this.#left -= 1;
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return Number.isFinite(value) ? value : null;
      case "boolean":
        return value;
      case "bigint":
        return this.#text(value.toString());
      case "object":
        return value === null ? null : this.#structure(value, path, depth);
      default:
        return undefined;
    }
  }

  #structure(value: object, path: string, depth: number): JsonValue | undefined {
    if (Array.isArray(value)) return this.#array(value, path, depth);
    if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : null;
    if (value instanceof URL) return this.#text(value.href);
    if (value instanceof Error)
      return { name: this.#text(String(value.name)), message: this.#text(String(value.message)) };
    if (value instanceof Map) return this.object(Object.fromEntries(this.#some(value)), path, depth);
    if (value instanceof Set) return this.#array(this.#some(value), path, depth);
    if (ArrayBuffer.isView(value)) return undefined;
    return this.object(value, path, depth);
  }

  #array(items: readonly unknown[], path: string, depth: number): JsonValue | undefined {
    if (!this.#enter(items, path, depth)) return undefined;
    const kept: JsonValue[] = [];
    for (let index = 0; index < items.length; index += 1) {
      if (this.#left <= 0) {
        this.cut = true;
        break;
      }
      kept.push(this.#item(items, index, `${path}.${index}`, depth) ?? null);
    }
    this.#open.delete(items);
    return kept;
  }

  #item(items: readonly unknown[], index: number, path: string, depth: number): JsonValue | undefined {
    try {
      return this.#value(items[index], path, depth + 1);
    } catch {
      return this.#refuse(path);
    }
  }

  #enter(holder: object, path: string, depth: number): boolean {
    if (this.#open.has(holder)) {
      this.#refuse(path);
      return false;
    }
    if (depth > MAX_DETAILS_DEPTH) {
      this.cut = true;
      return false;
    }
    this.#open.add(holder);
    return true;
  }

  /** As much of a collection as there is room for. */
  #some<Item>(items: Iterable<Item>): readonly Item[] {
    const some: Item[] = [];
    for (const item of items) {
      if (some.length >= this.#left) {
        this.cut = true;
        break;
      }
      some.push(item);
    }
    return some;
  }

  #names(holder: object, path: string): readonly string[] {
    try {
      return Object.keys(holder);
    } catch {
      this.#refuse(path);
      return [];
    }
  }

  #text(text: string): string {
    if (text.length <= MAX_TEXT_LENGTH) return text;
    this.cut = true;
    return text.slice(0, MAX_TEXT_LENGTH);
  }

  #refuse(path: string): undefined {
    if (this.unreadable.length < 8) this.unreadable.push(path);
    return undefined;
  }
}
