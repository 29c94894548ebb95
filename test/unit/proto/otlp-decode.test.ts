import {
  ATTRIBUTES,
  decodeLogsJson,
  decodeLogsProtobuf,
  encodeLogsJson,
  encodeLogsProtobuf,
} from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import {
  EMITTED_AT,
  eventsIn,
  field,
  logsOf,
  ReflectedRequest,
  recordOf,
  SAMPLE_EVENT,
  SPAN_ID,
  sampleEvent,
  TRACE_ID,
} from "../../kit/otlp-logs.ts";

describe("what others have made of a record", () => {
  /** The sample event as a message that can be changed before it is encoded. */
  function message(change: (record: MutableRecord) => void): Uint8Array {
    const object = ReflectedRequest.toObject(
      ReflectedRequest.decode(encodeLogsProtobuf(logsOf(recordOf(SAMPLE_EVENT)))),
    );
    change(object.resourceLogs[0].scopeLogs[0].logRecords[0]);
    return ReflectedRequest.encode(ReflectedRequest.fromObject(object)).finish();
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
      SAMPLE_EVENT,
    ],
    ["attributes in another order are the same", (record) => record.attributes.reverse(), SAMPLE_EVENT],
    [
      "of two values under one key the last wins",
      (record) => record.attributes.unshift({ key: ATTRIBUTES.childId, value: { stringValue: "other" } }),
      SAMPLE_EVENT,
    ],
    ["a dropped EventName is found in the attribute", (record) => delete record.eventName, SAMPLE_EVENT],
    ["a dropped event_name is found in the field", (record) => without(record, "event_name"), SAMPLE_EVENT],
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
    [
      "an integer may arrive as a double",
      (record) => put(record, ATTRIBUTES.sequence, { doubleValue: 7 }),
      SAMPLE_EVENT,
    ],
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
      sampleEvent({ details: { pid: 5 } }),
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
      (record) => delete record.timeUnixNano,
      sampleEvent({ observedAt: new Date(EMITTED_AT).toISOString() }),
    ],
    [
      "without any time observedAt is named",
      (record) => {
        delete record.timeUnixNano;
        delete record.observedTimeUnixNano;
      },
      "observedAt",
    ],
  ])("%s", (_, change, expected) => {
    expect(eventsIn(decodeLogsProtobuf(message(change)))).toEqual([expected]);
    const request = JSON.parse(encodeLogsJson(logsOf(recordOf(SAMPLE_EVENT))));
    change(request.resourceLogs[0].scopeLogs[0].logRecords[0]);
    expect(eventsIn(decodeLogsJson(request))).toEqual([expected]);
  });

  test.each(["", "00", "0".repeat(32), "g".repeat(32), `${TRACE_ID}00`, 5, null])(
    "the trace id %j is dropped, the record is kept",
    (traceId) => {
      const request = JSON.parse(encodeLogsJson(logsOf(recordOf(SAMPLE_EVENT))));
      request.resourceLogs[0].scopeLogs[0].logRecords[0].traceId = traceId;
      expect(decodeLogsJson(request)).toEqual({
        ok: true,
        records: [{ foreign: false, candidate: expect.anything() as unknown }],
      });
      expect(eventsIn(decodeLogsJson(request))).toEqual([SAMPLE_EVENT]);
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

describe("JSON as senders write it", () => {
  const base = () => JSON.parse(encodeLogsJson(logsOf(recordOf(SAMPLE_EVENT))));

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
    expect(eventsIn(decoded)).toEqual([SAMPLE_EVENT]);
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
    const { sequence: _, ...unsequenced } = SAMPLE_EVENT;
    expect(eventsIn(decodeLogsJson(request))).toEqual([
      SAMPLE_EVENT,
      SAMPLE_EVENT,
      SAMPLE_EVENT,
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
