import {
  attributesOf,
  type DecodedLogs,
  decodeLogsProtobuf,
  encodeLogsProtobuf,
  normalizeEvent,
} from "@agent-lifecycle/proto";
import fc from "fast-check";
import protobuf from "protobufjs";
import { describe, expect, test } from "vitest";
import { eventsIn, field, logsOf, ReflectedRequest, recordOf, SAMPLE_EVENT } from "../../kit/otlp-logs.ts";

describe("bytes that are no request", () => {
  const bytes = encodeLogsProtobuf(logsOf(recordOf(SAMPLE_EVENT), recordOf(SAMPLE_EVENT)));

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
      SAMPLE_EVENT,
      SAMPLE_EVENT,
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

describe("little input that would become much", () => {
  const EMPTY_LISTS = 2 ** 20;

  /** A request of these events, whose details are these texts. */
  function withDetails(texts: readonly string[]): DecodedLogs {
    const request = {
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: texts.map((text) => ({
                timeUnixNano: "1790000000000000000",
                eventName: "agent_lifecycle.activity",
                attributes: [...plainAttributes, { key: "agent_lifecycle.details", value: { stringValue: text } }],
              })),
            },
          ],
        },
      ],
    };
    return decodeLogsProtobuf(ReflectedRequest.encode(ReflectedRequest.fromObject(request)).finish());
  }

  const plainAttributes = Object.entries(attributesOf(SAMPLE_EVENT))
    .filter(([key]) => key !== "event_name" && key !== "agent_lifecycle.state")
    .map(([key, value]) => ({
      key,
      value:
        typeof value === "number"
          ? { intValue: value }
          : typeof value === "boolean"
            ? { boolValue: value }
            : { stringValue: value },
    }));

  test("details are parsed as long as all of a request have few enough lists; others cost their own record", () => {
    const large = `{"x":[${"[],".repeat(EMPTY_LISTS)}1]}`;
    const events = eventsIn(withDetails(['{"first":1}', large, large, large, large, '{"last":1}']));
    expect(events.map((event) => (typeof event === "string" ? event : "kept"))).toEqual([
      "kept",
      "kept",
      "kept",
      "details",
      "details",
      "kept",
    ]);
  });

  test("much text in details with few lists is no reason to refuse any", () => {
    const prose = JSON.stringify({ note: "a word, and another. ".repeat(50_000) });
    const events = eventsIn(withDetails(Array.from({ length: 8 }, () => prose)));
    expect(events.filter((event) => typeof event === "string")).toEqual([]);
  });

  test("a value of more lists than are read makes the request malformed", () => {
    const list = Buffer.from([0x0a, 0x02, 0x2a, 0x00]);
    const value = field(5, Buffer.alloc(list.length * 4_000_001, list));
    const attribute = Buffer.concat([field(1, Buffer.from("agent_lifecycle.details")), field(2, value)]);
    const request = field(1, field(2, field(2, field(6, attribute))));
    expect(decodeLogsProtobuf(request)).toEqual({ ok: false, problem: "more than 4000000 lists and maps" });
  });
});
