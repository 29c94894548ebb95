import { readFile } from "node:fs/promises";
import {
  type DecodedLogs,
  type LifecycleEvent,
  type LogsToEncode,
  normalizeEvent,
  type RecordToEncode,
} from "@agent-lifecycle/proto";
import protobuf from "protobufjs";

export const EMITTED_AT = 1_790_000_000_000;
export const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
export const SPAN_ID = "b7ad6b7169203331";

const { root } = protobuf.parse(await readFile(new URL("../../proto/otlp/logs.proto", import.meta.url), "utf8"));
/** The request by a reflection of the schema: a second opinion on the bytes. */
export const ReflectedRequest: protobuf.Type = root.lookupType("ExportLogsServiceRequest");

/** A request of these records, with a resource that has one attribute of each type. */
export function logsOf(...records: readonly RecordToEncode[]): LogsToEncode {
  return {
    resourceAttributes: { "service.name": "test", replicas: 3, ratio: 0.5, edge: true },
    scopeVersion: "0.1.0",
    records,
  };
}

export function recordOf(event: LifecycleEvent): RecordToEncode {
  return { event, emittedAtMs: EMITTED_AT, traceId: TRACE_ID, spanId: SPAN_ID };
}

/** What became of each record: its event, the path it was rejected for, or `foreign`. */
export function eventsIn(decoded: DecodedLogs): unknown[] {
  if (!decoded.ok) throw new Error(decoded.problem);
  return decoded.records.map((record) => {
    if (record.foreign) return "foreign";
    const normalized = normalizeEvent(record.candidate);
    return normalized.ok ? normalized.event : normalized.diagnostic.path;
  });
}

/** A valid event with these members changed. */
export function sampleEvent(members: Record<string, unknown>): LifecycleEvent {
  const normalized = normalizeEvent({
    schemaVersion: 1,
    eventId: "e-1",
    source: "test",
    sourceEpoch: "epoch-1",
    childId: "child-1",
    lineage: { rootChildId: "root-1", attempt: 1, external: false, parentChildId: "root-1" },
    kind: "state_changed",
    state: "running",
    observedAt: "2026-09-01T09:00:00.123Z",
    sequence: 7,
    capabilities: { heartbeat: "known" },
    ...members,
  });
  if (!normalized.ok) throw new Error(JSON.stringify(normalized.diagnostic));
  return normalized.event;
}

/** A valid event. */
export const SAMPLE_EVENT: LifecycleEvent = sampleEvent({});

/** A length-delimited protobuf field. */
export function field(number: number, content: Uint8Array): Uint8Array {
  return protobuf.Writer.create()
    .uint32((number << 3) | 2)
    .bytes(content)
    .finish();
}
