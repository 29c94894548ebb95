import { readFile } from "node:fs/promises";
import {
  ATTRIBUTES,
  attributesOf,
  bodyOf,
  type DecodedLogs,
  decodeLogsJson,
  decodeLogsProtobuf,
  encodeLogsJson,
  encodeLogsProtobuf,
  eventName,
  type LifecycleEvent,
  type LogsToEncode,
  normalizeEvent,
  type RecordToEncode,
  SCOPE_NAME,
  severityOf,
} from "@agent-lifecycle/proto";
import fc from "fast-check";
import protobuf from "protobufjs";
import { describe, expect, test } from "vitest";
import { arbitraryEvent } from "../../kit/arbitraries.ts";

const EMITTED_AT = 1_790_000_000_000;
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";

const { root } = protobuf.parse(await readFile(new URL("../../../proto/otlp/logs.proto", import.meta.url), "utf8"));
const Request = root.lookupType("ExportLogsServiceRequest");

function logsOf(...records: readonly RecordToEncode[]): LogsToEncode {
  return {
    resourceAttributes: { "service.name": "test", replicas: 3, ratio: 0.5, edge: true },
    scopeVersion: "0.1.0",
    records,
  };
}

function recordOf(event: LifecycleEvent): RecordToEncode {
  return { event, emittedAtMs: EMITTED_AT, traceId: TRACE_ID, spanId: SPAN_ID };
}

function eventsIn(decoded: DecodedLogs): unknown[] {
  if (!decoded.ok) throw new Error(decoded.problem);
  return decoded.records.map((record) => {
    if (record.foreign) return "foreign";
    const normalized = normalizeEvent(record.candidate);
    return normalized.ok ? normalized.event : normalized.diagnostic.path;
  });
}

const EVENT = sample({});

function sample(members: Record<string, unknown>): LifecycleEvent {
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

describe("decoding is the inverse of encoding", () => {
  test("in protobuf, for every valid event", () => {
    fc.assert(
      fc.property(fc.array(arbitraryEvent(), { minLength: 1, maxLength: 5 }), (events) => {
        const bytes = encodeLogsProtobuf(logsOf(...events.map(recordOf)));
        expect(eventsIn(decodeLogsProtobuf(bytes))).toEqual(events);
        expect(eventsIn(decodeLogsProtobuf(Buffer.from(bytes)))).toEqual(events);
      }),
      { numRuns: 300 },
    );
  });

  test("in JSON, for every valid event", () => {
    fc.assert(
      fc.property(fc.array(arbitraryEvent(), { minLength: 1, maxLength: 5 }), (events) => {
        const json: unknown = JSON.parse(encodeLogsJson(logsOf(...events.map(recordOf))));
        expect(eventsIn(decodeLogsJson(json))).toEqual(events);
      }),
      { numRuns: 300 },
    );
  });

  test("trace context travels with the record", () => {
    const logs = logsOf(
      recordOf(EVENT),
      { event: EVENT, emittedAtMs: EMITTED_AT, traceId: TRACE_ID },
      { event: EVENT, emittedAtMs: 0 },
    );
    const contexts = [{ traceId: TRACE_ID, spanId: SPAN_ID }, { traceId: TRACE_ID }, {}].map((context) => ({
      foreign: false,
      candidate: expect.anything() as unknown,
      ...context,
    }));
    expect(decodeLogsProtobuf(encodeLogsProtobuf(logs))).toEqual({ ok: true, records: contexts });
    expect(decodeLogsJson(JSON.parse(encodeLogsJson(logs)))).toEqual({ ok: true, records: contexts });
  });
});

describe("the bytes are OTLP's", () => {
  test("a reflection of the schema reads what we write, and both encodings say the same", () => {
    fc.assert(
      fc.property(arbitraryEvent(), (event) => {
        const logs = logsOf(recordOf(event));
        const message = Request.decode(encodeLogsProtobuf(logs));
        const json = protobufJson(message);
        expect(json).toEqual(JSON.parse(encodeLogsJson(logs)));
      }),
      { numRuns: 200 },
    );
  });

  test("we read what a reflection of the schema writes", () => {
    fc.assert(
      fc.property(arbitraryEvent(), (event) => {
        const message = Request.decode(encodeLogsProtobuf(logsOf(recordOf(event))));
        expect(eventsIn(decodeLogsProtobuf(Request.encode(message).finish()))).toEqual([event]);
      }),
      { numRuns: 200 },
    );
  });

  test("resource, scope, severity, body and times are where back ends look for them", () => {
    const event = sample({
      kind: "terminal",
      state: "failed",
      details: { name: "Researcher", cause: "timeout", exitCode: 2 },
    });
    const request = JSON.parse(encodeLogsJson(logsOf(recordOf(event))));
    const [resourceLogs] = request.resourceLogs;
    expect(resourceLogs.resource.attributes).toEqual([
      { key: "service.name", value: { stringValue: "test" } },
      { key: "replicas", value: { intValue: "3" } },
      { key: "ratio", value: { doubleValue: 0.5 } },
      { key: "edge", value: { boolValue: true } },
    ]);
    expect(resourceLogs.scopeLogs[0].scope).toEqual({ name: SCOPE_NAME, version: "0.1.0" });
    expect(resourceLogs.scopeLogs[0].logRecords[0]).toMatchObject({
      timeUnixNano: "1788253200123000000",
      observedTimeUnixNano: "1790000000000000000",
      severityNumber: 17,
      severityText: "ERROR",
      eventName: "agent_lifecycle.terminal",
      body: { stringValue: "Researcher failed (timeout)" },
    });
  });
});

/** A decoded message in OTLP's JSON: 64-bit integers as text, ids in hexadecimal. */
function protobufJson(message: protobuf.Message): unknown {
  return JSON.parse(
    JSON.stringify(Request.toObject(message, { longs: String, bytes: Array }), (name, value: unknown) =>
      (name === "traceId" || name === "spanId") && Array.isArray(value)
        ? Buffer.from(value as number[]).toString("hex")
        : value,
    ),
  );
}

describe("attributes", () => {
  test("are flat and scalar, and the extras are there where the details have them", () => {
    const event = sample({
      kind: "terminal",
      state: "lost",
      activity: "Reading",
      lineage: { rootChildId: "r", attempt: 0, external: true, adoptedAt: "2026-09-01T08:00:00Z" },
      details: { name: "Researcher", tool: "Bash", cause: "vanished", exitCode: 137, free: { a: 1 } },
    });
    expect(attributesOf(event)).toEqual({
      "agent_lifecycle.schema_version": 1,
      "agent_lifecycle.event_id": "e-1",
      "log.record.uid": "e-1",
      event_name: "agent_lifecycle.terminal",
      "agent_lifecycle.source": "test",
      "agent_lifecycle.source_epoch": "epoch-1",
      "agent_lifecycle.child_id": "child-1",
      "agent_lifecycle.root_child_id": "r",
      "agent_lifecycle.attempt": 0,
      "agent_lifecycle.external": true,
      "agent_lifecycle.adopted_at": "2026-09-01T08:00:00.000Z",
      "agent_lifecycle.state": "lost",
      "agent_lifecycle.sequence": 7,
      "agent_lifecycle.activity": "Reading",
      "agent_lifecycle.capability.heartbeat": "known",
      "agent_lifecycle.details": '{"cause":"vanished","exitCode":137,"free":{"a":1},"name":"Researcher","tool":"Bash"}',
      "gen_ai.agent.name": "Researcher",
      "gen_ai.tool.name": "Bash",
      "error.type": "vanished",
      "process.exit.code": 137,
    });
  });

  test.each([
    [{ kind: "created", state: "created" }, 9, "child-1 was created"],
    [{ kind: "state_changed", state: "running", activity: "Reading" }, 9, "child-1 is running: Reading"],
    [
      { state: "waiting", details: { waitingOn: { kind: "provider_retry" } } },
      13,
      "child-1 is waiting for provider retry",
    ],
    [{ kind: "activity", state: undefined, details: { tool: "Bash" }, activity: "ls" }, 5, "child-1 uses Bash: ls"],
    [{ kind: "heartbeat", state: undefined }, 5, "child-1 is alive"],
    [{ kind: "diagnostic", state: undefined }, 13, "child-1 has a diagnostic"],
    [{ kind: "reconciliation", state: undefined }, 9, "child-1 is being reconciled"],
    [{ kind: "terminal", state: "completed" }, 9, "child-1 completed"],
    [{ kind: "terminal", state: "cancelled" }, 9, "child-1 was cancelled"],
    [{ kind: "terminal", state: "failed" }, 17, "child-1 failed"],
    [{ kind: "terminal", state: "lost" }, 18, "child-1 is lost"],
  ])("%j has severity %i and reads %j", (members, severity, body) => {
    const event = sample(members);
    expect(severityOf(event).number).toBe(severity);
    expect(bodyOf(event)).toBe(body);
    expect(eventName(event.kind)).toBe(`agent_lifecycle.${event.kind}`);
  });

  test("a body is short", () => {
    expect(bodyOf(sample({ activity: "x".repeat(1000) })).length).toBe(256);
  });
});

describe("what others have made of a record", () => {
  /** The sample event as a message that can be changed before it is encoded. */
  function message(change: (record: MutableRecord) => void): Uint8Array {
    const object = Request.toObject(Request.decode(encodeLogsProtobuf(logsOf(recordOf(EVENT)))));
    change(object["resourceLogs"][0].scopeLogs[0].logRecords[0]);
    return Request.encode(Request.fromObject(object)).finish();
  }

  interface MutableRecord {
    attributes: { key: string; value?: unknown }[];
    [member: string]: unknown;
  }

  const without = (record: MutableRecord, key: string) => {
    record.attributes = record.attributes.filter((attribute) => attribute.key !== key);
  };
  const put = (record: MutableRecord, key: string, value: unknown) => {
    without(record, key);
    record.attributes.push({ key, value });
  };

  test.each<[string, (record: MutableRecord) => void, unknown]>([
    [
      "attributes that others add are passed over",
      (record) => record.attributes.unshift({ key: "k8s.pod.name", value: { arrayValue: { values: [] } } }),
      EVENT,
    ],
    ["attributes in another order are the same", (record) => record.attributes.reverse(), EVENT],
    [
      "of two values under one key the last wins",
      (record) => record.attributes.unshift({ key: ATTRIBUTES.childId, value: { stringValue: "other" } }),
      EVENT,
    ],
    ["a dropped EventName is found in the attribute", (record) => delete record["eventName"], EVENT],
    ["a dropped event_name is found in the field", (record) => without(record, "event_name"), EVENT],
    [
      "a record without the schema version is foreign",
      (record) => without(record, ATTRIBUTES.schemaVersion),
      "foreign",
    ],
    [
      "another schema version is ours, and wrong",
      (record) => put(record, ATTRIBUTES.schemaVersion, { intValue: 2 }),
      "schemaVersion",
    ],
    [
      "an empty schema version is ours, and wrong",
      (record) => put(record, ATTRIBUTES.schemaVersion, {}),
      "schemaVersion",
    ],
    ["a missing member is named", (record) => without(record, ATTRIBUTES.childId), "childId"],
    ["text is no number", (record) => put(record, ATTRIBUTES.sequence, { stringValue: "7" }), "sequence"],
    ["an integer may arrive as a double", (record) => put(record, ATTRIBUTES.sequence, { doubleValue: 7 }), EVENT],
    ["a number below zero is named", (record) => put(record, ATTRIBUTES.sequence, { intValue: -1 }), "sequence"],
    [
      "a number beyond 2^53 is named",
      (record) => put(record, ATTRIBUTES.sequence, { intValue: "9223372036854775807" }),
      "sequence",
    ],
    [
      "details as a map are as good as text",
      (record) =>
        put(record, ATTRIBUTES.details, { kvlistValue: { values: [{ key: "pid", value: { intValue: 5 } }] } }),
      sample({ details: { pid: 5 } }),
    ],
    [
      "details that are no JSON are named",
      (record) => put(record, ATTRIBUTES.details, { stringValue: "{" }),
      "details",
    ],
    [
      "details that are no object are named",
      (record) => put(record, ATTRIBUTES.details, { stringValue: "[1]" }),
      "details",
    ],
    [
      "a capability that is neither known nor unknown is named",
      (record) => put(record, "agent_lifecycle.capability.cancel", { stringValue: "yes" }),
      "capabilities.cancel",
    ],
    ["an unknown kind is named", (record) => Object.assign(record, { eventName: "agent_lifecycle.paused" }), "kind"],
    [
      "without a Timestamp the ObservedTimestamp counts",
      (record) => delete record["timeUnixNano"],
      sample({ observedAt: new Date(EMITTED_AT).toISOString() }),
    ],
    [
      "without any time observedAt is named",
      (record) => {
        delete record["timeUnixNano"];
        delete record["observedTimeUnixNano"];
      },
      "observedAt",
    ],
  ])("%s", (_, change, expected) => {
    expect(eventsIn(decodeLogsProtobuf(message(change)))).toEqual([expected]);
    const request = JSON.parse(encodeLogsJson(logsOf(recordOf(EVENT))));
    change(request.resourceLogs[0].scopeLogs[0].logRecords[0]);
    expect(eventsIn(decodeLogsJson(request))).toEqual([expected]);
  });

  test.each(["", "00", "0".repeat(32), "g".repeat(32), `${TRACE_ID}00`, 5, null])(
    "the trace id %j is dropped, the record is kept",
    (traceId) => {
      const request = JSON.parse(encodeLogsJson(logsOf(recordOf(EVENT))));
      request.resourceLogs[0].scopeLogs[0].logRecords[0].traceId = traceId;
      expect(decodeLogsJson(request)).toEqual({
        ok: true,
        records: [{ foreign: false, candidate: expect.anything() as unknown }],
      });
      expect(eventsIn(decodeLogsJson(request))).toEqual([EVENT]);
    },
  );

  test("ids of a wrong length or all zero are dropped in protobuf, the record is kept", () => {
    for (const traceId of [
      new Uint8Array(16),
      new Uint8Array(15).fill(1),
      new Uint8Array(17).fill(1),
      new Uint8Array(0),
    ]) {
      const decoded = decodeLogsProtobuf(message((record) => Object.assign(record, { traceId })));
      expect(decoded).toEqual({ ok: true, records: [{ foreign: false, candidate: expect.anything() as unknown }] });
    }
  });
});

function field(number: number, content: Uint8Array): Uint8Array {
  return protobuf.Writer.create()
    .uint32((number << 3) | 2)
    .bytes(content)
    .finish();
}

describe("JSON as senders write it", () => {
  const base = () => JSON.parse(encodeLogsJson(logsOf(recordOf(EVENT))));

  test("snake_case names, numbers for text, base64 ids, unknown members and nulls are read", () => {
    const request = base();
    const [record] = request.resourceLogs[0].scopeLogs[0].logRecords;
    const attributes = record.attributes.map(({ key, value }: { key: string; value: Record<string, unknown> }) => {
      const [[name, scalar]] = Object.entries(value) as [[string, unknown]];
      return {
        key,
        value: { [`${name.replace("Value", "_value")}`]: name === "intValue" ? Number(scalar) : scalar, extra: null },
      };
    });
    const snake = {
      time_unix_nano: 1788253200123000000,
      event_name: record.eventName,
      trace_id: Buffer.from(TRACE_ID, "hex").toString("base64"),
      span_id: SPAN_ID.toUpperCase(),
      severity_number: "SEVERITY_NUMBER_INFO",
      timeUnixNano: null,
      body: null,
      attributes,
      unknown: { a: [1] },
    };
    const decoded = decodeLogsJson({
      resource_logs: [{ scope_logs: [{ log_records: [snake], scope: null }], resource: null, x: 1 }],
    });
    expect(decoded).toMatchObject({ ok: true, records: [{ traceId: TRACE_ID, spanId: SPAN_ID }] });
    expect(eventsIn(decoded)).toEqual([EVENT]);
  });

  test("an empty request has no records", () => {
    for (const request of [{}, { resourceLogs: [] }, { resourceLogs: null }, { resourceLogs: [{ scopeLogs: [{}] }] }]) {
      expect(decodeLogsJson(request)).toEqual({ ok: true, records: [] });
    }
    expect(decodeLogsProtobuf(new Uint8Array(0))).toEqual({ ok: true, records: [] });
  });

  test.each([
    null,
    [],
    "x",
    5,
    { resourceLogs: 5 },
    { resourceLogs: [5] },
    { resourceLogs: [{ scopeLogs: {} }] },
    { resourceLogs: [{ scopeLogs: [{ logRecords: [[]] }] }] },
  ])("%j is no request", (request) => {
    expect(decodeLogsJson(request)).toEqual({ ok: false, problem: expect.any(String) as string });
  });

  test("numbers of every form are read or lead to a rejection of their record alone", () => {
    const forms = ["7", 7, "07", -7, "9223372036854775807", "-9223372036854775808", 1e21, "1e21", "x", null, true, {}];
    const request = base();
    const [record] = request.resourceLogs[0].scopeLogs[0].logRecords;
    request.resourceLogs[0].scopeLogs[0].logRecords = forms.map((intValue) => ({
      ...record,
      attributes: [
        ...record.attributes.filter(({ key }: { key: string }) => key !== ATTRIBUTES.sequence),
        { key: ATTRIBUTES.sequence, value: { intValue } },
      ],
    }));
    const bad = "sequence";
    const { sequence: _, ...unsequenced } = EVENT;
    expect(eventsIn(decodeLogsJson(request))).toEqual([
      EVENT,
      EVENT,
      EVENT,
      bad,
      bad,
      bad,
      bad,
      bad,
      bad,
      unsequenced,
      bad,
      bad,
    ]);
  });

  test("a value nested too deep makes the request malformed; a deep foreign one is passed over", () => {
    const deep = (levels: number): unknown =>
      levels === 0 ? { intValue: 1 } : { arrayValue: { values: [deep(levels - 1)] } };
    const request = base();
    const [record] = request.resourceLogs[0].scopeLogs[0].logRecords;
    record.attributes.push({ key: "foreign", value: deep(90) });
    expect(decodeLogsJson(request).ok).toBe(true);
    record.attributes.push({ key: ATTRIBUTES.details, value: deep(90) });
    expect(decodeLogsJson(request)).toEqual({ ok: false, problem: expect.stringContaining("64 levels") as string });
    let value: Uint8Array = Uint8Array.of(0x18, 1);
    for (let level = 0; level < 90; level += 1) value = field(5, field(1, value));
    const attribute = Buffer.concat([field(1, Buffer.from(ATTRIBUTES.details)), field(2, value)]);
    expect(decodeLogsProtobuf(field(1, field(2, field(2, field(6, attribute)))))).toEqual({
      ok: false,
      problem: expect.stringContaining("64 levels") as string,
    });
  });
});

describe("bytes that are no request", () => {
  const bytes = encodeLogsProtobuf(logsOf(recordOf(EVENT), recordOf(EVENT)));

  test("a request cut anywhere is malformed or has fewer members, and never throws", () => {
    let malformed = 0;
    for (let length = 1; length < bytes.length; length += 1)
      if (!decodeLogsProtobuf(bytes.subarray(0, length)).ok) malformed += 1;
    expect(malformed).toBe(bytes.length - 1);
  });

  test("any bytes give a request or a problem", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (input) => void decodeLogsProtobuf(input)),
      { numRuns: 2000 },
    );
    const flipped = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(fc.array(flipped, { minLength: 1, maxLength: 4 }), (flips) => {
        const input = Uint8Array.from(bytes);
        for (const [index, mask] of flips) input[index] = (input[index] ?? 0) ^ mask;
        const decoded = decodeLogsProtobuf(input);
        if (decoded.ok) for (const record of decoded.records) if (!record.foreign) normalizeEvent(record.candidate);
      }),
      { numRuns: 2000 },
    );
  });

  test("unknown fields of every wire type are skipped, groups included", () => {
    const writer = protobuf.Writer.create();
    writer
      .uint32((99 << 3) | 0)
      .uint64(5)
      .uint32((99 << 3) | 1)
      .fixed64(5)
      .uint32((99 << 3) | 2)
      .string("x")
      .uint32((99 << 3) | 5)
      .fixed32(5);
    writer
      .uint32((99 << 3) | 3)
      .uint32((98 << 3) | 0)
      .uint32(1)
      .uint32((99 << 3) | 4);
    expect(eventsIn(decodeLogsProtobuf(Buffer.concat([writer.finish(), bytes, writer.finish()])))).toEqual([
      EVENT,
      EVENT,
    ]);
  });

  test.each([
    [[0x0b]],
    [[0x0c]],
    [[0x07]],
    [[0x00]],
    [[0x0a, 0x05, 0x01]],
    [[0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    [new Array(12).fill(0xff)],
    [new Array(80).fill(0x0b)],
  ])("%j is malformed", (input) => {
    expect(decodeLogsProtobuf(Uint8Array.from(input))).toEqual({ ok: false, problem: expect.any(String) as string });
  });
});

describe("times that OTLP cannot say", () => {
  test.each([
    "0000-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00.000Z",
    "2554-07-21T23:34:33.710Z",
    "9999-12-31T23:59:59.999Z",
  ])("%s travels as an attribute", (observedAt) => {
    const event = sample({ observedAt });
    expect(attributesOf(event)[ATTRIBUTES.observedAt]).toBe(observedAt);
    expect(eventsIn(decodeLogsProtobuf(encodeLogsProtobuf(logsOf(recordOf(event)))))).toEqual([event]);
    expect(eventsIn(decodeLogsJson(JSON.parse(encodeLogsJson(logsOf(recordOf(event))))))).toEqual([event]);
  });

  test.each(["1970-01-01T00:00:00.001Z", "2554-07-21T23:34:33.709Z"])("%s is a Timestamp", (observedAt) => {
    const event = sample({ observedAt });
    expect(attributesOf(event)[ATTRIBUTES.observedAt]).toBeUndefined();
    expect(eventsIn(decodeLogsProtobuf(encodeLogsProtobuf(logsOf(recordOf(event)))))).toEqual([event]);
  });
});
