import { decodeLogsJson, decodeLogsProtobuf, encodeLogsJson } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { eventsIn, logsOf, ReflectedRequest, recordOf, SAMPLE_EVENT } from "../../kit/otlp-logs.ts";

interface JsonAttribute {
  readonly key?: string;
  readonly keyStrindex?: number;
  readonly value: unknown;
}

interface JsonRequest {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly { readonly logRecords: readonly { attributes: JsonAttribute[] }[] }[];
  }[];
}

/** A request of the sample event, with further attributes before or behind its own. */
function requestWith(further: readonly JsonAttribute[], where: "before" | "behind" = "behind"): JsonRequest {
  const request = JSON.parse(encodeLogsJson(logsOf(recordOf(SAMPLE_EVENT)))) as JsonRequest;
  for (const record of request.resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap((logs) => logs.logRecords))) {
    record.attributes = where === "before" ? [...further, ...record.attributes] : [...record.attributes, ...further];
  }
  return request;
}

const inJson = (request: JsonRequest): ReturnType<typeof decodeLogsJson> => decodeLogsJson(request);

/** The schema that we reflect knows no string tables: what only they have is written by hand. */
function inProtobuf(request: JsonRequest): ReturnType<typeof decodeLogsProtobuf> {
  return decodeLogsProtobuf(ReflectedRequest.encode(ReflectedRequest.fromObject(request)).finish());
}

describe("attributes that are passed over are counted", () => {
  const activity = { key: "agent_lifecycle.activity", value: { stringValue: "early" } };
  const another = { key: "agent_lifecycle.activity", value: { stringValue: "late" } };

  test.each([
    ["JSON", inJson],
    ["protobuf", inProtobuf],
  ])("earlier values of a repeated key, and the last one is the event's (%s)", (_encoding, decode) => {
    const decoded = decode(requestWith([activity, activity, another], "before"));
    expect(decoded).toMatchObject({ ok: true, tolerated: { repeatedKeys: 2, stringTableIndexes: 0 } });
    expect(eventsIn(decoded)).toEqual([{ ...SAMPLE_EVENT, activity: "late" }]);
  });

  test.each([
    ["JSON", inJson],
    ["protobuf", inProtobuf],
  ])("and nothing is said where there is nothing to say, nor of keys that are not ours (%s)", (_encoding, decode) => {
    const foreign = { key: "further", value: { stringValue: "x" } };
    expect(decode(requestWith([foreign, foreign]))).not.toHaveProperty("tolerated");
  });

  test("keys and values that only index a string table, read as absent (H21, JSON)", () => {
    const decoded = decodeLogsJson(
      requestWith([
        { keyStrindex: 3, value: { stringValue: "x" } },
        { key: "agent_lifecycle.activity", value: { stringValueStrindex: 7 } },
        // Written by senders that leave out no default.
        { key: "further", keyStrindex: 0, value: { stringValue: "x" } },
      ]),
    );
    expect(decoded).toMatchObject({ ok: true, tolerated: { repeatedKeys: 0, stringTableIndexes: 2 } });
    expect(eventsIn(decoded)).toEqual([SAMPLE_EVENT]);
  });

  test("the same in protobuf (H21)", () => {
    const request = ReflectedRequest.encode(ReflectedRequest.fromObject(requestWith([]))).finish();
    const key = Buffer.from("agent_lifecycle.activity");
    const keyIndex = attribute(Buffer.from([0x18, 0x03, ...delimited(0x12, Buffer.from([0x0a, 0x01, 0x78]))]));
    const valueIndex = attribute(Buffer.from([...delimited(0x0a, key), ...delimited(0x12, Buffer.from([0x40, 0x07]))]));
    const both = delimited(0x0a, delimited(0x12, delimited(0x12, Buffer.from([...keyIndex, ...valueIndex]))));
    const alone = decodeLogsProtobuf(Buffer.concat([request, both]));
    // A record of nothing else is foreign, and nobody looks at it.
    expect(alone).not.toHaveProperty("tolerated");
    const decoded = decodeLogsProtobuf(withinFirstRecord(request, Buffer.from([...keyIndex, ...valueIndex])));
    expect(decoded).toMatchObject({ ok: true, tolerated: { repeatedKeys: 0, stringTableIndexes: 2 } });
    expect(eventsIn(decoded)).toEqual([SAMPLE_EVENT]);
  });
});

function delimited(tag: number, content: Uint8Array): Buffer {
  const length = content.length < 0x80 ? [content.length] : [(content.length & 0x7f) | 0x80, content.length >>> 7];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const attribute = (content: Uint8Array): Buffer => delimited(0x32, content);

/** Appends fields to the one record of a request, whose lengths are written anew. */
function withinFirstRecord(request: Uint8Array, fields: Uint8Array): Buffer {
  const decoded = ReflectedRequest.decode(request) as unknown as {
    readonly resourceLogs: readonly { readonly scopeLogs: readonly { readonly logRecords: readonly object[] }[] }[];
  };
  const record = decoded.resourceLogs[0]?.scopeLogs[0]?.logRecords[0];
  if (record === undefined) throw new Error("no record");
  const bytes = ReflectedRequest.root.lookupType("LogRecord").encode(record).finish();
  return delimited(0x0a, delimited(0x12, delimited(0x12, Buffer.concat([bytes, fields]))));
}
