import {
  ATTRIBUTES,
  attributesOf,
  decodeLogsJson,
  decodeLogsProtobuf,
  encodeLogsJson,
  encodeLogsProtobuf,
  SCOPE_NAME,
} from "@agent-lifecycle/proto";
import fc from "fast-check";
import type protobuf from "protobufjs";
import { describe, expect, test } from "vitest";
import { arbitraryEvent } from "../../kit/arbitraries.ts";
import {
  EMITTED_AT,
  eventsIn,
  logsOf,
  ReflectedRequest,
  recordOf,
  SAMPLE_EVENT,
  SPAN_ID,
  sampleEvent,
  TRACE_ID,
} from "../../kit/otlp-logs.ts";

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
      recordOf(SAMPLE_EVENT),
      { event: SAMPLE_EVENT, emittedAtMs: EMITTED_AT, traceId: TRACE_ID },
      { event: SAMPLE_EVENT, emittedAtMs: 0 },
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
        const message = ReflectedRequest.decode(encodeLogsProtobuf(logs));
        const json = protobufJson(message);
        expect(json).toEqual(JSON.parse(encodeLogsJson(logs)));
      }),
      { numRuns: 200 },
    );
  });

  test("we read what a reflection of the schema writes", () => {
    fc.assert(
      fc.property(arbitraryEvent(), (event) => {
        const message = ReflectedRequest.decode(encodeLogsProtobuf(logsOf(recordOf(event))));
        expect(eventsIn(decodeLogsProtobuf(ReflectedRequest.encode(message).finish()))).toEqual([event]);
      }),
      { numRuns: 200 },
    );
  });

  test("resource, scope, severity, body and times are where back ends look for them", () => {
    const event = sampleEvent({
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

describe("times that OTLP cannot say", () => {
  test.each([
    "0000-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00.000Z",
    "2554-07-21T23:34:33.710Z",
    "9999-12-31T23:59:59.999Z",
  ])("%s travels as an attribute", (observedAt) => {
    const event = sampleEvent({ observedAt });
    expect(attributesOf(event)[ATTRIBUTES.observedAt]).toBe(observedAt);
    expect(eventsIn(decodeLogsProtobuf(encodeLogsProtobuf(logsOf(recordOf(event)))))).toEqual([event]);
    expect(eventsIn(decodeLogsJson(JSON.parse(encodeLogsJson(logsOf(recordOf(event))))))).toEqual([event]);
  });

  test.each(["1970-01-01T00:00:00.001Z", "2554-07-21T23:34:33.709Z"])("%s is a Timestamp", (observedAt) => {
    const event = sampleEvent({ observedAt });
    expect(attributesOf(event)[ATTRIBUTES.observedAt]).toBeUndefined();
    expect(eventsIn(decodeLogsProtobuf(encodeLogsProtobuf(logsOf(recordOf(event)))))).toEqual([event]);
  });
});

/** A decoded message in OTLP's JSON: 64-bit integers as text, ids in hexadecimal. */
function protobufJson(message: protobuf.Message): unknown {
  return JSON.parse(
    JSON.stringify(ReflectedRequest.toObject(message, { longs: String, bytes: Array }), (name, value: unknown) =>
      (name === "traceId" || name === "spanId") && Array.isArray(value)
        ? Buffer.from(value as number[]).toString("hex")
        : value,
    ),
  );
}
