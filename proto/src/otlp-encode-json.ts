import { type AttributeValue, SCOPE_NAME } from "./otlp-attributes.ts";
import { type LogRecord, type LogsToEncode, logRecordOf } from "./otlp-record.ts";
import { unixNanoText } from "./otlp-time.ts";

/** An ExportLogsServiceRequest as JSON text; 64-bit integers are decimal text, as OTLP/JSON asks. */
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
    attributes: Object.entries(record.attributes).map(jsonAttribute),
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
