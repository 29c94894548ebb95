import { cutText, isJsonObject, MAX_DETAIL_TEXT_LENGTH, parseTimestamp } from "@agent-lifecycle/proto";

export type Fields = Readonly<Record<string, unknown>>;

/** Identifiers are joined with an attempt's number: they have to leave room for it. */
const LONGEST_IDENTIFIER = 240;

/** The members of an own object; of anything else, none. */
export function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : NO_FIELDS;
}

const NO_FIELDS: Fields = Object.freeze({});

export function member(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

export function objectIn(fields: Fields, name: string): Fields {
  return fieldsOf(member(fields, name));
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = member(fields, name);
  return Array.isArray(value) ? value : [];
}

/** A name that something can be known by. */
export function identifierIn(fields: Fields, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = member(fields, name);
    if (typeof value !== "string") continue;
    const trimmed = value.trim();
    if (trimmed.length > 0 && trimmed.length <= LONGEST_IDENTIFIER) return trimmed;
  }
  return undefined;
}

/** A short text for people, cut. */
export function wordIn(fields: Fields, name: string): string | undefined {
  const value = member(fields, name);
  if (typeof value !== "string") return undefined;
  const word = cutText(value.trim(), MAX_DETAIL_TEXT_LENGTH);
  return word === "" ? undefined : word;
}

export function flagIn(fields: Fields, name: string): boolean | undefined {
  const value = member(fields, name);
  return typeof value === "boolean" ? value : undefined;
}

export function countIn(fields: Fields, name: string): number | undefined {
  const value = member(fields, name);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

export function integerIn(fields: Fields, name: string): number | undefined {
  const value = member(fields, name);
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

export function amountIn(fields: Fields, name: string): number | undefined {
  const value = member(fields, name);
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** RFC 3339 as milliseconds. */
export function timeIn(fields: Fields, name: string): number | undefined {
  const value = member(fields, name);
  return typeof value === "string" ? parseTimestamp(value) : undefined;
}

/** The members that have a value. */
export function stated(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
