import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Collector, resolveConfiguration, startCollector } from "@agent-lifecycle/collector";
import {
  decodeExportResponseJson,
  decodeExportResponseProtobuf,
  type ExportOutcome,
  encodeLogsJson,
} from "@agent-lifecycle/proto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeEvent } from "../kit/events.ts";
import { logsOf, ReflectedRequest, recordOf } from "../kit/otlp-logs.ts";

let collector: Collector;
let folder = "";

interface Attribute {
  readonly key?: string;
  readonly keyStrindex?: number;
  readonly value: unknown;
}

interface Request {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly { readonly logRecords: readonly { readonly attributes: Attribute[] }[] }[];
  }[];
}

/** A request of one new child, with these attributes before its own. */
function requestWith(childId: string, further: readonly Attribute[]): Request {
  const event = { ...makeEvent({ sequence: 0, state: "created" }), childId };
  const request = JSON.parse(encodeLogsJson(logsOf(recordOf(event)))) as Request;
  request.resourceLogs[0]?.scopeLogs[0]?.logRecords[0]?.attributes.unshift(...further);
  return request;
}

async function post(contentType: string, body: string | Uint8Array<ArrayBuffer>): Promise<Response> {
  const headers = { "content-type": contentType };
  return fetch(new URL("/v1/logs", collector.ingestUrl), { method: "POST", headers, body });
}

async function outcomeInJson(request: Request): Promise<ExportOutcome | undefined> {
  const response = await post("application/json", JSON.stringify(request));
  expect(response.status).toBe(200);
  return decodeExportResponseJson(await response.json());
}

async function outcomeInProtobuf(request: Request): Promise<ExportOutcome | undefined> {
  const bytes = ReflectedRequest.encode(ReflectedRequest.fromObject(request)).finish();
  const response = await post("application/x-protobuf", Buffer.from(bytes));
  expect(response.status).toBe(200);
  return decodeExportResponseProtobuf(new Uint8Array(await response.arrayBuffer()));
}

async function isKnown(childId: string): Promise<boolean> {
  const response = await fetch(new URL(`/api/v1/children/runner/${childId}`, collector.apiUrl));
  await response.arrayBuffer();
  return response.status === 200;
}

async function counted(reason: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", collector.apiUrl))).text();
  const line = text
    .split("\n")
    .find((one) => one.startsWith("agent_lifecycle_tolerated_attributes_total{") && one.includes(`reason="${reason}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

const repeated: Attribute = { key: "agent_lifecycle.child_id", value: { stringValue: "another" } };
const ofNoTable: Attribute = { keyStrindex: 3, value: { stringValue: "x" } };

describe("what is taken and not as it should be comes with a warning", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "agent-lifecycle-"));
    const endpoint = { port: 0 };
    const { configuration } = resolveConfiguration({
      storage: { path: join(folder, "collector.db") },
      receivers: { otlp: { protocols: { http: { endpoint }, grpc: null } } },
      api: { endpoint },
    });
    collector = await startCollector(configuration, { log: { info: () => {}, error: () => {} } });
  });

  afterAll(async () => {
    await collector.shutdown();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ["JSON", outcomeInJson],
    ["protobuf", outcomeInProtobuf],
  ])("H10: a repeated key costs no record, is counted, and the sender hears of it (%s)", async (name, outcomeOf) => {
    const before = await counted("repeated_key");
    expect(await outcomeOf(requestWith(`repeated-${name}`, [repeated, repeated]))).toEqual({
      rejectedLogRecords: 0,
      errorMessage: "warning: attributes passed over: 2 under a key that the same record states again later",
    });
    expect([await isKnown(`repeated-${name}`), await isKnown("another")]).toEqual([true, false]);
    expect((await counted("repeated_key")) - before).toBe(2);
  });

  test("H10, H21: so does an index of a string table, which logs have none of", async () => {
    expect(await outcomeInJson(requestWith("indexed", [ofNoTable, repeated]))).toEqual({
      rejectedLogRecords: 0,
      errorMessage:
        "warning: attributes passed over: 1 under a key that the same record states again later, 1 that only index a string table",
    });
    expect(await isKnown("indexed")).toBe(true);
    expect(await counted("string_table_index")).toBe(1);
  });

  test("H9, H10: where records are refused too, one text says both", async () => {
    const outcome = await outcomeInJson(requestWith(" ", [repeated]));
    expect(outcome?.rejectedLogRecords).toBe(1);
    expect(outcome?.errorMessage).toMatch(/^invalid_event: record 0: childId .*\. warning: attributes passed over: 1 /);
  });

  test("H7: and where nothing was passed over, nothing is said", async () => {
    expect(await outcomeInJson(requestWith("plain", []))).toEqual({ rejectedLogRecords: 0, errorMessage: "" });
  });
});
