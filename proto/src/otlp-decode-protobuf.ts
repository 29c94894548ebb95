import { KEY, KEY_STRINDEX, readAnyValue, STRING_VALUE, STRING_VALUE_STRINDEX, VALUE } from "./otlp-any-value.ts";
import {
  type DecodedLogs,
  type DecodedRecord,
  FOREIGN,
  MAX_RECORDS,
  RecordSlots,
  SLOT_NAMES,
} from "./otlp-candidate.ts";
import { slotOfKey } from "./otlp-known-keys.ts";
import { timestampFromUnixNano } from "./otlp-time.ts";
import { WireCursor, WireError } from "./otlp-wire.ts";

/**
 * Decodes an ExportLogsServiceRequest in protobuf, each record straight into an event candidate. Unknown fields are
 * skipped, invalid trace and span ids are dropped (the record stays), the last of equal keys wins. Never throws.
 */
export function decodeLogsProtobuf(bytes: Uint8Array): DecodedLogs {
  try {
    return new RequestDecoder(bytes).request();
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : "the input is no protobuf" };
  }
}

const RESOURCE_LOGS = 10;
const SCOPE_LOGS = 18;
const LOG_RECORDS = 18;

const TIME_UNIX_NANO = 9;
const ATTRIBUTES_FIELD = 50;
const TRACE_ID = 74;
const SPAN_ID = 82;
const OBSERVED_TIME_UNIX_NANO = 89;
const EVENT_NAME = 98;

const EVENT_NAME_CACHE = SLOT_NAMES.length;
const TRACE_ID_CACHE = SLOT_NAMES.length + 1;
const SPAN_ID_CACHE = SLOT_NAMES.length + 2;
const CACHE_SLOTS = SLOT_NAMES.length + 3;

class RequestDecoder {
  private readonly cursor: WireCursor;
  private readonly records: DecodedRecord[] = [];
  private readonly slots = new RecordSlots();
  // Neighbouring records repeat most of their values: the source, the epoch, the root. Equal bytes are decoded once.
  private readonly cachedStart = new Int32Array(CACHE_SLOTS);
  private readonly cachedLength: Int32Array = new Int32Array(CACHE_SLOTS).fill(-1);
  private readonly cachedText: string[] = new Array(CACHE_SLOTS).fill("");

  constructor(bytes: Uint8Array) {
    this.cursor = new WireCursor(bytes);
  }

  request(): DecodedLogs {
    this.eachMessage(this.cursor.bytes.length, RESOURCE_LOGS, (resourceEnd) => {
      this.eachMessage(resourceEnd, SCOPE_LOGS, (scopeEnd) => {
        this.eachMessage(scopeEnd, LOG_RECORDS, (recordEnd) => this.record(recordEnd));
      });
    });
    const tolerated = this.slots.tolerated();
    return { ok: true, records: this.records, ...(tolerated === undefined ? undefined : { tolerated }) };
  }

  /** Reads a message up to `end` and visits its fields with this tag; the others are skipped. */
  private eachMessage(end: number, wanted: number, visit: (end: number) => void): void {
    const { cursor } = this;
    while (cursor.position < end) {
      const tag = cursor.varint();
      if (tag === wanted) visit(cursor.enter(end));
      else cursor.skip(tag);
    }
    cursor.leave(end);
  }

  private record(end: number): void {
    if (this.records.length >= MAX_RECORDS) throw new WireError(`more than ${MAX_RECORDS} log records`);
    const { cursor, slots } = this;
    let timeLow = 0;
    let timeHigh = 0;
    let observedLow = 0;
    let observedHigh = 0;
    let eventName = "";
    let traceId: string | undefined;
    let spanId: string | undefined;
    slots.clear();
    while (cursor.position < end) {
      const tag = cursor.varint();
      switch (tag) {
        case TIME_UNIX_NANO:
          timeLow = cursor.fixed32();
          timeHigh = cursor.fixed32();
          break;
        case ATTRIBUTES_FIELD:
          this.attribute(cursor.enter(end));
          break;
        case TRACE_ID:
          traceId = this.identifier(TRACE_ID_CACHE, cursor.enter(end), 16);
          break;
        case SPAN_ID:
          spanId = this.identifier(SPAN_ID_CACHE, cursor.enter(end), 8);
          break;
        case OBSERVED_TIME_UNIX_NANO:
          observedLow = cursor.fixed32();
          observedHigh = cursor.fixed32();
          break;
        case EVENT_NAME:
          eventName = this.text(EVENT_NAME_CACHE, cursor.enter(end));
          break;
        default:
          cursor.skip(tag);
      }
    }
    cursor.leave(end);
    if (slots.isForeign) {
      this.records.push(FOREIGN);
      return;
    }
    const timestamp = timestampFromUnixNano(timeHigh, timeLow) ?? timestampFromUnixNano(observedHigh, observedLow);
    this.records.push(slots.record(slots.candidate(eventName, timestamp), traceId, spanId));
  }

  private attribute(end: number): void {
    if (this.usualAttribute(end)) return;
    const { cursor } = this;
    let slot = -1;
    let value: unknown = null;
    let hasKey = false;
    let hasKeyIndex = false;
    while (cursor.position < end) {
      const tag = cursor.varint();
      if (tag === KEY) {
        const keyEnd = cursor.enter(end);
        hasKey = true;
        slot = slotOfKey(cursor, cursor.position, keyEnd - cursor.position);
        cursor.position = keyEnd;
      } else if (tag === VALUE) {
        const valueEnd = cursor.enter(end);
        // The key comes first as a rule: then a value of another's attribute that ends the pair is passed over unread.
        if (slot < 0 && valueEnd === end) cursor.position = valueEnd;
        else value = this.value(slot, valueEnd);
      } else {
        hasKeyIndex ||= tag === KEY_STRINDEX;
        cursor.skip(tag);
      }
    }
    cursor.leave(end);
    if (hasKeyIndex && !hasKey) this.slots.noteStringTableIndex();
    if (slot >= 0) this.slots.set(slot, value);
  }

  /** The layout that encoders write nearly always: a key, then a value that ends the pair, lengths of one byte each. */
  private usualAttribute(end: number): boolean {
    const { cursor } = this;
    const { bytes, position } = cursor;
    const keyLength = bytes[position + 1] as number;
    const valueTag = position + 2 + keyLength;
    const usual =
      bytes[position] === KEY &&
      keyLength < 0x80 &&
      bytes[valueTag] === VALUE &&
      valueTag + 2 + (bytes[valueTag + 1] as number) === end;
    if (!usual) return false;
    const slot = slotOfKey(cursor, position + 2, keyLength);
    cursor.position = slot < 0 ? end : valueTag + 2;
    if (slot >= 0) this.slots.set(slot, this.value(slot, end));
    return true;
  }

  /** The value of an attribute: text, nearly always, and often the same as in the record before. */
  private value(slot: number, end: number): unknown {
    const { cursor } = this;
    const { bytes, position } = cursor;
    if (slot < 0 || bytes[position] !== STRING_VALUE) {
      if (slot >= 0 && position < end && bytes[position] === STRING_VALUE_STRINDEX) this.slots.noteStringTableIndex();
      return readAnyValue(cursor, end, 1);
    }
    cursor.position = position + 1;
    const textEnd = cursor.enter(end);
    if (textEnd === end) return this.text(slot, textEnd);
    cursor.position = position;
    return readAnyValue(cursor, end, 1);
  }

  private text(cacheSlot: number, end: number): string {
    const { cursor, cachedStart, cachedLength, cachedText } = this;
    const start = cursor.position;
    const length = end - start;
    if (cachedLength[cacheSlot] === length && cursor.sameBytes(start, cachedStart[cacheSlot] as number, length)) {
      cursor.position = end;
      return cachedText[cacheSlot] as string;
    }
    const text = cursor.text(start, end);
    cachedStart[cacheSlot] = start;
    cachedLength[cacheSlot] = length;
    cachedText[cacheSlot] = text;
    return text;
  }

  /** Hexadecimal text of an id, or `undefined` when it has the wrong length or is all zero. */
  private identifier(cacheSlot: number, end: number, length: number): string | undefined {
    const { cursor, cachedStart, cachedLength, cachedText } = this;
    const start = cursor.position;
    cursor.position = end;
    if (end - start !== length) return undefined;
    if (cachedLength[cacheSlot] !== length || !cursor.sameBytes(start, cachedStart[cacheSlot] as number, length)) {
      cachedStart[cacheSlot] = start;
      cachedLength[cacheSlot] = length;
      cachedText[cacheSlot] = hexadecimal(cursor.bytes, start, end);
    }
    const text = cachedText[cacheSlot] as string;
    return text === "" ? undefined : text;
  }
}

const HEXADECIMAL: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Empty for bytes that are all zero. */
function hexadecimal(bytes: Uint8Array, start: number, end: number): string {
  let any = 0;
  for (let index = start; index < end; index += 1) any |= bytes[index] as number;
  if (any === 0) return "";
  // A host's own buffer writes one flat string.
  const buffer = bytes as Uint8Array & { hexSlice?: (start: number, end: number) => string };
  if (buffer.hexSlice !== undefined) return buffer.hexSlice(start, end);
  let text = "";
  for (let index = start; index < end; index += 1) text += HEXADECIMAL[bytes[index] as number] as string;
  return text;
}
