import { isJsonObject } from "./json.ts";
import { readJsonAnyValue } from "./otlp-any-value-json.ts";
import {
  type DecodedLogs,
  type DecodedRecord,
  FOREIGN,
  MAX_RECORDS,
  RecordSlots,
  SLOT_NAMES,
} from "./otlp-candidate.ts";
import { memberOf, OtlpJsonError } from "./otlp-json-member.ts";
import { timestampFromUnixNanoText } from "./otlp-time.ts";
import { base64Bytes } from "./otlp-wire.ts";

/**
 * Decodes an ExportLogsServiceRequest from its parsed JSON, each record into an event candidate. Tolerant where senders
 * differ: integers as text or numbers, snake_case names, `null` for absent, unknown members, ids in hexadecimal or
 * base64. Invalid trace and span ids are dropped (the record stays), the last of equal keys wins. Never throws.
 */
export function decodeLogsJson(value: unknown): DecodedLogs {
  try {
    const records: DecodedRecord[] = [];
    const slots = new RecordSlots();
    if (!isJsonObject(value)) throw new OtlpJsonError("a request is a JSON object");
    for (const resourceLogs of listOf(value, "resourceLogs", "resource_logs")) {
      for (const scopeLogs of listOf(resourceLogs, "scopeLogs", "scope_logs")) {
        for (const record of listOf(scopeLogs, "logRecords", "log_records")) {
          if (records.length >= MAX_RECORDS) throw new OtlpJsonError(`more than ${MAX_RECORDS} log records`);
          records.push(decodeRecord(record, slots));
        }
      }
    }
    const tolerated = slots.tolerated();
    return { ok: true, records, ...(tolerated === undefined ? undefined : { tolerated }) };
  } catch (error) {
    return { ok: false, problem: error instanceof OtlpJsonError ? error.message : "the input is no OTLP request" };
  }
}

type Members = Readonly<Record<string, unknown>>;

const SLOT_OF: ReadonlyMap<unknown, number> = new Map(SLOT_NAMES.map((name, slot) => [name, slot]));

function listOf(holder: Members, name: string, snakeName: string): readonly Members[] {
  const list = memberOf(holder, name, snakeName);
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw new OtlpJsonError(`${name} is no list`);
  for (const item of list)
    if (!isJsonObject(item)) throw new OtlpJsonError(`${name} lists something that is no object`);
  return list;
}

function decodeRecord(record: Members, slots: RecordSlots): DecodedRecord {
  slots.clear();
  for (const attribute of listOf(record, "attributes", "attributes")) {
    const slot = SLOT_OF.get(attribute.key);
    if (slot !== undefined) {
      const value = readJsonAnyValue(attribute.value, 1);
      if (value === null && isStringTableIndex(attribute.value)) slots.noteStringTableIndex();
      slots.set(slot, value);
    } else if (isKeyIndex(attribute)) slots.noteStringTableIndex();
  }
  if (slots.isForeign) return FOREIGN;
  const eventName = memberOf(record, "eventName", "event_name");
  const timestamp =
    timeOf(memberOf(record, "timeUnixNano", "time_unix_nano")) ??
    timeOf(memberOf(record, "observedTimeUnixNano", "observed_time_unix_nano"));
  const candidate = slots.candidate(typeof eventName === "string" ? eventName : "", timestamp);
  const traceId = identifierOf(memberOf(record, "traceId", "trace_id"), 16);
  const spanId = traceId === undefined ? undefined : identifierOf(memberOf(record, "spanId", "span_id"), 8);
  return slots.record(candidate, traceId, spanId);
}

function isStringTableIndex(value: unknown): boolean {
  return isJsonObject(value) && memberOf(value, "stringValueStrindex", "string_value_strindex") !== undefined;
}

function isKeyIndex(attribute: Members): boolean {
  return typeof attribute.key !== "string" && memberOf(attribute, "keyStrindex", "key_strindex") !== undefined;
}

/** Nanoseconds as text, or as a number that some senders write; a number has lost digits below the millisecond only. */
function timeOf(value: unknown): string | undefined {
  if (typeof value === "string") return timestampFromUnixNanoText(value);
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
  return timestampFromUnixNanoText(BigInt(Math.floor(value)).toString());
}

function identifierOf(value: unknown, byteLength: number): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.length === byteLength * 2 ? value.toLowerCase() : hexadecimalOf(value, byteLength);
  return text === undefined || !/^[0-9a-f]+$/.test(text) || /^0+$/.test(text) ? undefined : text;
}

/** Some senders encode ids as protobuf's JSON does other bytes. */
function hexadecimalOf(base64: string, byteLength: number): string | undefined {
  if (base64.length > byteLength * 2) return undefined;
  const bytes = base64Bytes(base64);
  if (bytes?.length !== byteLength) return undefined;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
