import { defineMember, isJsonObject } from "./json.ts";
import { bytesOf } from "./otlp-any-value.ts";
import { MAX_VALUE_DEPTH } from "./otlp-candidate.ts";
import { memberOf, OtlpJsonError } from "./otlp-json-member.ts";

type Members = Readonly<Record<string, unknown>>;

const INTEGER = /^-?\d{1,20}$/;

/**
 * Reads an AnyValue in JSON as a JSON-like value. Empty is `null`. What does not fit its member's type is kept as it
 * is: `normalizeEvent` then names the member. Of bytes their count is kept.
 */
export function readJsonAnyValue(value: unknown, depth: number): unknown {
  if (depth > MAX_VALUE_DEPTH) throw new OtlpJsonError(`a value is nested deeper than ${MAX_VALUE_DEPTH} levels`);
  if (!isJsonObject(value)) return value ?? null;
  for (const [name, snakeName] of SCALARS) {
    const scalar = memberOf(value, name, snakeName);
    if (scalar !== undefined) return scalarOf(name, scalar);
  }
  const list = memberOf(value, "arrayValue", "array_value");
  if (list !== undefined) return valuesOf(list).map((item) => readJsonAnyValue(item, depth + 1));
  const map = memberOf(value, "kvlistValue", "kvlist_value");
  return map === undefined ? null : readMap(valuesOf(map), depth);
}

const SCALARS = [
  ["stringValue", "string_value"],
  ["boolValue", "bool_value"],
  ["intValue", "int_value"],
  ["doubleValue", "double_value"],
  ["bytesValue", "bytes_value"],
] as const;

function scalarOf(name: (typeof SCALARS)[number][0], value: unknown): unknown {
  if (name === "bytesValue") return typeof value === "string" ? bytesOf(base64Length(value)) : [value];
  return name === "intValue" || name === "doubleValue" ? numberOf(name, value) : value;
}

function base64Length(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.floor(((text.length - padding) * 3) / 4);
}

function numberOf(name: "intValue" | "doubleValue", value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (INTEGER.test(value)) return Number(value);
  if (name === "intValue") return value;
  return value === "NaN" || value === "Infinity" || value === "-Infinity" || DECIMAL.test(value)
    ? Number(value)
    : value;
}

const DECIMAL = /^-?\d{1,32}(?:\.\d{1,32})?(?:[eE][+-]?\d{1,4})?$/;

function valuesOf(holder: unknown): readonly unknown[] {
  const values = isJsonObject(holder) ? (memberOf(holder, "values", "values") ?? []) : undefined;
  if (!Array.isArray(values)) throw new OtlpJsonError("a list or map value has no list of values");
  return values;
}

function readMap(entries: readonly unknown[], depth: number): Members {
  const members: Record<string, unknown> = {};
  for (const entry of entries) {
    if (!isJsonObject(entry)) throw new OtlpJsonError("a map lists something that is no entry");
    // Senders may leave out what is empty, and a key that only indexes a string table is as if empty (H20, H21).
    const key = memberOf(entry, "key", "key") ?? "";
    if (typeof key !== "string") throw new OtlpJsonError("the key of a map entry is no text");
    defineMember(members, key, readJsonAnyValue(entry.value, depth + 1));
  }
  return members;
}
