import { defineMember } from "./json.ts";
import { MAX_CONTAINERS, MAX_VALUE_DEPTH } from "./otlp-candidate.ts";
import { type WireCursor, WireError } from "./otlp-wire.ts";

/** Field numbers of AnyValue with their wire types. */
export const STRING_VALUE = 10;
const BOOL_VALUE = 16;
const INT_VALUE = 24;
const DOUBLE_VALUE = 33;
const ARRAY_VALUE = 42;
const KVLIST_VALUE = 50;
const BYTES_VALUE = 58;
/** An index of the string table that only profiles have (H21). */
export const STRING_VALUE_STRINDEX = 64;

/**
 * Reads an AnyValue that ends at `end` as a JSON-like value. Empty is `null`; of bytes their count is kept. The last of
 * several members wins, as protobuf has it.
 */
export function readAnyValue(cursor: WireCursor, end: number, depth: number): unknown {
  if (depth > MAX_VALUE_DEPTH) throw new WireError(`a value is nested deeper than ${MAX_VALUE_DEPTH} levels`);
  let value: unknown = null;
  while (cursor.position < end) {
    const tag = cursor.varint();
    switch (tag) {
      case STRING_VALUE: {
        const textEnd = cursor.enter(end);
        value = cursor.text(cursor.position, textEnd);
        break;
      }
      case BOOL_VALUE:
        value = cursor.bool();
        break;
      case INT_VALUE:
        value = cursor.int64();
        break;
      case DOUBLE_VALUE:
        value = cursor.double();
        break;
      case ARRAY_VALUE:
        value = readArray(cursor, cursor.enter(end), depth);
        break;
      case KVLIST_VALUE:
        value = readMap(cursor, cursor.enter(end), depth);
        break;
      case BYTES_VALUE: {
        const bytesEnd = cursor.enter(end);
        value = bytesOf(bytesEnd - cursor.position);
        cursor.position = bytesEnd;
        break;
      }
      default:
        cursor.skip(tag);
    }
  }
  cursor.leave(end);
  return value;
}

/** In a list: no lifecycle attribute is binary, and where one should be text, number or map a list is refused. */
export function bytesOf(length: number): unknown {
  return [`${length} bytes`];
}

function countContainer(cursor: WireCursor): void {
  cursor.containers += 1;
  if (cursor.containers > MAX_CONTAINERS) throw new WireError(`more than ${MAX_CONTAINERS} lists and maps`);
}

const VALUES = 10;

function readArray(cursor: WireCursor, end: number, depth: number): unknown[] {
  countContainer(cursor);
  const values: unknown[] = [];
  while (cursor.position < end) {
    const tag = cursor.varint();
    if (tag === VALUES) values.push(readAnyValue(cursor, cursor.enter(end), depth + 1));
    else cursor.skip(tag);
  }
  cursor.leave(end);
  return values;
}

function readMap(cursor: WireCursor, end: number, depth: number): Record<string, unknown> {
  countContainer(cursor);
  const members: Record<string, unknown> = {};
  while (cursor.position < end) {
    const tag = cursor.varint();
    if (tag === VALUES) readMember(cursor, cursor.enter(end), depth, members);
    else cursor.skip(tag);
  }
  cursor.leave(end);
  return members;
}

/** Field numbers of KeyValue with their wire types. */
export const KEY = 10;
export const VALUE = 18;
/** An index of the string table in place of a key (H21). */
export const KEY_STRINDEX = 24;

function readMember(cursor: WireCursor, end: number, depth: number, members: Record<string, unknown>): void {
  let key = "";
  let value: unknown = null;
  while (cursor.position < end) {
    const tag = cursor.varint();
    if (tag === KEY) {
      const keyEnd = cursor.enter(end);
      key = cursor.text(cursor.position, keyEnd);
    } else if (tag === VALUE) value = readAnyValue(cursor, cursor.enter(end), depth + 1);
    else cursor.skip(tag);
  }
  cursor.leave(end);
  defineMember(members, key, value);
}
