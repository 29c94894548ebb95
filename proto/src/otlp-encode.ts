import protobuf from "protobufjs/minimal.js";
import { type AttributeValue, SCOPE_NAME } from "./otlp-attributes.ts";
import { type LogRecord, type LogsToEncode, logRecordOf } from "./otlp-record.ts";
import { unixNanoHalves, unixNanoText } from "./otlp-time.ts";

/** An ExportLogsServiceRequest in protobuf. */
export function encodeLogsProtobuf(logs: LogsToEncode): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(10).fork(); // resource_logs
  writer.uint32(10).fork(); // resource
  for (const [name, value] of Object.entries(logs.resourceAttributes)) writeAttribute(writer, 10, name, value);
  writer.ldelim();
  writer.uint32(18).fork(); // scope_logs
  writer.uint32(10).fork().uint32(10).string(SCOPE_NAME);
  if (logs.scopeVersion !== undefined) writer.uint32(18).string(logs.scopeVersion);
  writer.ldelim();
  for (const record of logs.records) writeRecord(writer.uint32(18).fork(), logRecordOf(record)).ldelim();
  return writer.ldelim().ldelim().finish();
}

function writeRecord(writer: protobuf.Writer, record: LogRecord): protobuf.Writer {
  writeTime(writer, 9, record.timeMs);
  writer.uint32(16).int32(record.severity.number).uint32(26).string(record.severity.text);
  writer.uint32(42).fork().uint32(10).string(record.body).ldelim();
  for (const [name, value] of record.attributes) writeAttribute(writer, 50, name, value);
  if (record.traceId !== undefined) writer.uint32(74).bytes(bytesOfHexadecimal(record.traceId));
  if (record.spanId !== undefined) writer.uint32(82).bytes(bytesOfHexadecimal(record.spanId));
  writeTime(writer, 89, record.observedTimeMs);
  return writer.uint32(98).string(record.eventName);
}

/** fixed64 is two little-endian halves. An unknown time is left out. */
function writeTime(writer: protobuf.Writer, tag: number, epochMs: number): void {
  const { high, low } = unixNanoHalves(epochMs);
  if (high !== 0 || low !== 0) writer.uint32(tag).fixed32(low).fixed32(high);
}

function writeAttribute(writer: protobuf.Writer, tag: number, name: string, value: AttributeValue): void {
  writer.uint32(tag).fork().uint32(10).string(name).uint32(18).fork();
  if (typeof value === "string") writer.uint32(10).string(value);
  else if (typeof value === "boolean") writer.uint32(16).bool(value);
  else if (Number.isSafeInteger(value)) writer.uint32(24).int64(value);
  else writer.uint32(33).double(value);
  writer.ldelim().ldelim();
}

function bytesOfHexadecimal(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  );
}

/** The same request as JSON text; 64-bit integers are decimal text, as OTLP/JSON asks. */
export function encodeLogsJson(logs: LogsToEncode): string {
  const scope = { name: SCOPE_NAME, ...(logs.scopeVersion === undefined ? undefined : { version: logs.scopeVersion }) };
  const logRecords = logs.records.map((record) => jsonRecord(logRecordOf(record)));
  const attributes = Object.entries(logs.resourceAttributes).map(jsonAttribute);
  return JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ scope, logRecords }] }] });
}

function jsonRecord(record: LogRecord): unknown {
  return {
    ...jsonTime("timeUnixNano", record.timeMs),
    ...jsonTime("observedTimeUnixNano", record.observedTimeMs),
    severityNumber: record.severity.number,
    severityText: record.severity.text,
    eventName: record.eventName,
    body: { stringValue: record.body },
    attributes: record.attributes.map(jsonAttribute),
    ...(record.traceId === undefined ? undefined : { traceId: record.traceId }),
    ...(record.spanId === undefined ? undefined : { spanId: record.spanId }),
  };
}

function jsonTime(name: string, epochMs: number): Readonly<Record<string, string>> | undefined {
  const text = unixNanoText(epochMs);
  return text === "0" ? undefined : { [name]: text };
}

function jsonAttribute([key, value]: readonly [string, AttributeValue]): unknown {
  if (typeof value === "string") return { key, value: { stringValue: value } };
  if (typeof value === "boolean") return { key, value: { boolValue: value } };
  if (Number.isSafeInteger(value)) return { key, value: { intValue: String(value) } };
  return { key, value: { doubleValue: Number.isFinite(value) ? value : String(value) } };
}
