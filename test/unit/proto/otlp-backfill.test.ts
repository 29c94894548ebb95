import { decodeLogsJson, decodeLogsProtobuf, encodeLogsJson, encodeLogsProtobuf } from "@agent-lifecycle/proto";
import { describe, expect, it } from "vitest";
import { logsOf, ReflectedRequest, recordOf, SAMPLE_EVENT } from "../../kit/otlp-logs.ts";

interface Attributes {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly { readonly logRecords: readonly { readonly attributes: unknown[] }[] }[];
  }[];
}

function withMark<Request>(request: Request, value: unknown): Request {
  const record = (request as Attributes).resourceLogs[0]?.scopeLogs[0]?.logRecords[0];
  record?.attributes.push({ key: "agent_lifecycle.backfill", value });
  return request;
}

function marked(value: unknown): readonly unknown[] {
  const json = withMark(JSON.parse(encodeLogsJson(logsOf(recordOf(SAMPLE_EVENT)))) as unknown, value);
  const reflected = ReflectedRequest.decode(encodeLogsProtobuf(logsOf(recordOf(SAMPLE_EVENT))));
  const bytes = ReflectedRequest.encode(withMark(reflected, value)).finish();
  return [decodeLogsJson(json), decodeLogsProtobuf(bytes)].map((decoded) => {
    const [record] = decoded.ok ? decoded.records : [];
    return record?.foreign === false ? record.backfill : "foreign";
  });
}

describe("S1: a record that says it was kept on its way", () => {
  it("is old evidence in both encodings", () => {
    expect(marked({ boolValue: true })).toEqual([true, true]);
  });

  it("is live if it says anything else", () => {
    expect(marked({ boolValue: false })).toEqual([undefined, undefined]);
    expect(marked({ stringValue: "true" })).toEqual([undefined, undefined]);
  });
});
