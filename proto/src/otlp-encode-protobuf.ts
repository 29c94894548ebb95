import { ATTRIBUTES, type AttributeValue, SCOPE_NAME } from "./otlp-attributes.ts";
import { type LogRecord, type LogsToEncode, logRecordOf } from "./otlp-record.ts";
import { unixNanoHalves } from "./otlp-time.ts";
import { varintLength, WireWriter } from "./otlp-wire-writer.ts";
import { utf8Length } from "./text.ts";

/** An ExportLogsServiceRequest in protobuf. */
export function encodeLogsProtobuf(logs: LogsToEncode): Uint8Array {
  const resource = new WireWriter(256);
  for (const [name, value] of Object.entries(logs.resourceAttributes)) writeAttribute(resource, 10, name, value);
  const scope = new WireWriter(64);
  scope.text(10, SCOPE_NAME);
  if (logs.scopeVersion !== undefined) scope.text(18, logs.scopeVersion);

  const scopeLogs = new WireWriter(1024 * (logs.records.length + 1));
  scopeLogs.message(10, scope.written());
  const record = new WireWriter(4096);
  for (const toEncode of logs.records) {
    record.clear();
    writeRecord(record, logRecordOf(toEncode));
    scopeLogs.message(18, record.written());
  }

  const resourceLogs = new WireWriter(scopeLogs.written().length + resource.written().length + 32);
  resourceLogs.message(10, resource.written());
  resourceLogs.message(18, scopeLogs.written());
  const request = new WireWriter(resourceLogs.written().length + 16);
  request.message(10, resourceLogs.written());
  return request.written();
}

function writeRecord(writer: WireWriter, record: LogRecord): void {
  writeTime(writer, 9, record.timeMs);
  writer.varint(16);
  writer.varint(record.severity.number);
  writer.text(26, record.severity.text);
  writer.varint(42);
  const bodyLength = utf8Length(record.body);
  writer.varint(1 + varintLength(bodyLength) + bodyLength);
  writer.varint(10);
  writer.textOfLength(record.body, bodyLength);
  for (const name of Object.keys(record.attributes)) {
    writeAttribute(writer, 50, name, record.attributes[name] as AttributeValue);
  }
  if (record.traceId !== undefined) writer.message(74, bytesOfHexadecimal(record.traceId));
  if (record.spanId !== undefined) writer.message(82, bytesOfHexadecimal(record.spanId));
  writeTime(writer, 89, record.observedTimeMs);
  writer.text(98, record.eventName);
}

/** fixed64 is two little-endian halves. An unknown time is left out. */
function writeTime(writer: WireWriter, tag: number, epochMs: number): void {
  const { high, low } = unixNanoHalves(epochMs);
  if (high === 0 && low === 0) return;
  writer.varint(tag);
  writer.fixed32(low);
  writer.fixed32(high);
}

/** A KeyValue. Its lengths are known before it is written. */
function writeAttribute(writer: WireWriter, tag: number, name: string, value: AttributeValue): void {
  const key = keyBytes(name);
  const textLength = typeof value === "string" ? utf8Length(value) : 0;
  const valueLength = lengthOfValue(value, textLength);
  writer.varint(tag);
  writer.varint(key.length + 1 + varintLength(valueLength) + valueLength);
  writer.raw(key);
  writer.varint(18);
  writer.varint(valueLength);
  if (typeof value === "string") {
    writer.varint(10);
    writer.textOfLength(value, textLength);
  } else if (typeof value === "boolean") {
    writer.varint(16);
    writer.varint(value ? 1 : 0);
  } else if (Number.isSafeInteger(value)) {
    writer.varint(24);
    writer.int64(value);
  } else {
    writer.varint(33);
    writer.double(value);
  }
}

function lengthOfValue(value: AttributeValue, textLength: number): number {
  if (typeof value === "string") return 1 + varintLength(textLength) + textLength;
  if (typeof value === "boolean") return 2;
  if (!Number.isSafeInteger(value)) return 9;
  return value < 0 ? 11 : 1 + varintLength(value);
}

/** The key fields of our own attributes are always the same bytes. */
const KEY_FIELDS: ReadonlyMap<string, Uint8Array> = new Map(
  Object.values(ATTRIBUTES).map((name) => [name, encodeKey(name)]),
);

function keyBytes(name: string): Uint8Array {
  return KEY_FIELDS.get(name) ?? encodeKey(name);
}

function encodeKey(name: string): Uint8Array {
  const writer = new WireWriter(name.length + 16);
  writer.text(10, name);
  return writer.written();
}

function bytesOfHexadecimal(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = digitOf(text.charCodeAt(index * 2)) * 16 + digitOf(text.charCodeAt(index * 2 + 1));
  }
  return bytes;
}

/** `0`–`9` or `a`–`f`: ids have been put into lower case. */
function digitOf(unit: number): number {
  return unit < 0x61 ? unit - 0x30 : unit - 0x57;
}
