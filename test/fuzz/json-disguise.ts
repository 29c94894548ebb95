import type { SeededRandom } from "../kit/seeded-random.ts";
import { one } from "./target.ts";

/** Members that a sender may leave out, or write as null, while they are empty. */
const EMPTY_MEMBERS: ReadonlyMap<string, string> = new Map([
  ["key", '""'],
  ["eventName", '""'],
  ["traceId", '""'],
  ["spanId", '""'],
  ["timeUnixNano", '"0"'],
  ["observedTimeUnixNano", '"0"'],
  ["values", "[]"],
  ["attributes", "[]"],
  ["value", "{}"],
]);
const INTEGERS: ReadonlySet<string> = new Set(["intValue", "timeUnixNano", "observedTimeUnixNano"]);
const IDS: ReadonlySet<string> = new Set(["traceId", "spanId"]);
const ALTERNATIVES = ["stringValue", "boolValue", "intValue", "doubleValue", "bytesValue", "arrayValue", "kvlistValue"];
/** Names that nothing of OTLP has, or that mean something elsewhere. */
const FURTHER_NAMES = ["further", "__proto__", "toString", "resource_log", "droppedAttributesCount", "Key"];

/**
 * The same OTLP/JSON in another writing (H16 to H20): names in snake_case, members in another order, empty ones left out
 * or null, unknown ones added, integers as numbers, ids in upper case.
 */
export function disguisedJson(random: SeededRandom, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => disguisedJson(random, item));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const written = random.below(3) === 0 ? snakeCase(name) : name;
    if (EMPTY_MEMBERS.get(name) === JSON.stringify(member) && random.below(2) === 0) {
      return random.below(2) === 0 ? [] : [[written, null]];
    }
    return [[written, disguisedMember(random, name, member)]];
  });
  if (random.below(12) === 0) entries.push([one(random, FURTHER_NAMES), one(random, [null, 1, "x", [[]], { a: {} }])]);
  if (entries.some(([name]) => ALTERNATIVES.includes(name)) && random.below(6) === 0) {
    const absent = one(random, ALTERNATIVES);
    if (entries.every(([name]) => name !== absent && name !== snakeCase(absent))) entries.push([absent, null]);
  }
  return Object.fromEntries(random.below(3) === 0 ? random.shuffled(entries) : entries);
}

function disguisedMember(random: SeededRandom, name: string, member: unknown): unknown {
  if (typeof member !== "string") return disguisedJson(random, member);
  if (IDS.has(name) && random.below(2) === 0) return member.toUpperCase();
  if (INTEGERS.has(name) && random.below(2) === 0 && isExact(member)) return Number(member);
  return member;
}

/** Whether a number says the same as the text. */
function isExact(text: string): boolean {
  return BigInt(Number(text)) === BigInt(text);
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
