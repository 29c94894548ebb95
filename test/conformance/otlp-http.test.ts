import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type Collector, resolveConfiguration, startCollector } from "@agent-lifecycle/collector";
import {
  decodeExportResponseJson,
  decodeExportResponseProtobuf,
  encodeLogsJson,
  encodeLogsProtobuf,
  type LifecycleEvent,
} from "@agent-lifecycle/proto";
import protobuf from "protobufjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeEvent } from "../kit/events.ts";
import { ReflectedRequest } from "../kit/otlp-logs.ts";

const TYPES = { protobuf: "application/x-protobuf", json: "application/json" } as const;
type Encoding = keyof typeof TYPES;
const ENCODINGS = ["protobuf", "json"] as const;
const resourceAttributes = { "service.name": "conformance" };
const MAX_BODY_BYTES = 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

let collector: Collector;
let folder = "";
let children = 0;

/** Sends exactly this, with `Content-Length` only where it is said. */
function send(
  path: string,
  body: Buffer | string,
  headers: Readonly<Record<string, string>>,
  method = "POST",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = httpRequest(new URL(path, collector.ingestUrl ?? ""), { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          contentType: answer.headers["content-type"],
          headers: answer.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sending.on("error", reject);
    sending.end(body);
  });
}

function logs(encoding: Encoding, events: readonly LifecycleEvent[]): Buffer {
  const records = events.map((event) => ({ event, emittedAtMs: Date.parse(event.observedAt) }));
  return Buffer.from(
    encoding === "protobuf"
      ? encodeLogsProtobuf({ resourceAttributes, records })
      : encodeLogsJson({ resourceAttributes, records }),
  );
}

/** The beginning of a child that nobody has heard of. */
function newChild(): LifecycleEvent {
  children += 1;
  return makeEvent({ childId: `child-${children}`, sequence: 0, state: "created" });
}

const post = (
  encoding: Encoding,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => send("/v1/logs", body, { "content-type": TYPES[encoding], ...headers });

async function isKnown({ source, childId }: LifecycleEvent): Promise<boolean> {
  const response = await fetch(new URL(`/api/v1/children/${source}/${childId}`, collector.apiUrl));
  await response.arrayBuffer();
  return response.status === 200;
}

const { root } = protobuf.parse(`syntax = "proto3";
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message Any { string type_url = 1; bytes value = 2; }`);
const StatusMessage = root.lookupType("Status");

interface Status {
  readonly code: number;
  readonly message: string;
  readonly details: readonly object[];
}

/** The google.rpc.Status of an answer, in whichever encoding it is. */
function statusOf({ contentType, body }: Answer): Status {
  if (contentType === TYPES.json) return JSON.parse(body.toString()) as Status;
  expect(contentType).toBe(TYPES.protobuf);
  return StatusMessage.toObject(StatusMessage.decode(body)) as Status;
}

function outcomeOf(
  { body }: Answer,
  encoding: Encoding,
): { readonly rejectedLogRecords: number; readonly errorMessage: string } {
  const outcome =
    encoding === "protobuf"
      ? decodeExportResponseProtobuf(body)
      : decodeExportResponseJson(JSON.parse(body.toString()));
  if (outcome === undefined) throw new Error("no export response");
  return outcome;
}

interface JsonRequest {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly { readonly logRecords: readonly JsonRecord[] }[];
  }[];
}

interface JsonRecord {
  traceId?: string;
  spanId?: string;
  readonly attributes: { readonly key: string; value: unknown }[];
}

function recordsOf({ resourceLogs }: JsonRequest): readonly JsonRecord[] {
  return resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
}

/** By a reflection of the schema, which reads ids as base64. */
function protobufOf(request: JsonRequest): Buffer {
  return Buffer.from(ReflectedRequest.encode(ReflectedRequest.fromObject(request)).finish());
}

/** An OTLP/JSON request of one record, with members of it changed. */
function jsonOf(event: LifecycleEvent, change: (record: Record<string, unknown>) => void): string {
  const request = JSON.parse(logs("json", [event]).toString()) as {
    resourceLogs: { scopeLogs: { logRecords: Record<string, unknown>[] }[] }[];
  };
  const [record] = request.resourceLogs[0]?.scopeLogs[0]?.logRecords ?? [];
  if (record === undefined) throw new Error("no record");
  change(record);
  return JSON.stringify(request);
}

describe("OTLP/HTTP, rule by rule, on a real collector", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "agent-lifecycle-"));
    const endpoint = { port: 0 };
    const { configuration } = resolveConfiguration({
      storage: { path: join(folder, "collector.db") },
      receivers: { otlp: { protocols: { http: { endpoint, maxRequestBodyBytes: MAX_BODY_BYTES }, grpc: null } } },
      api: { endpoint },
    });
    collector = await startCollector(configuration, { log: { info: () => {}, error: () => {} } });
  });

  afterAll(async () => {
    await collector.shutdown();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(ENCODINGS)(
    "H1, H2, H7, T1: POST /v1/logs takes %s on one port; full success has no partial_success",
    async (encoding) => {
      const child = newChild();
      const answer = await post(encoding, logs(encoding, [child]));
      expect([answer.status, answer.body.toString()]).toEqual([200, encoding === "json" ? "{}" : ""]);
      expect(await isKnown(child)).toBe(true);
    },
  );

  test("H1: other signals are 404, as Status, which no client retries", async () => {
    for (const path of ["/v1/traces", "/v1/metrics", "/v1development/profiles", "/nothing", "/v1/logs/"]) {
      for (const type of Object.values(TYPES)) {
        const answer = await send(path, "{}", { "content-type": type });
        expect([answer.status, answer.contentType]).toEqual([404, type]);
        expect(statusOf(answer).message.length).toBeGreaterThan(0);
      }
    }
  });

  test.each(ENCODINGS)(
    "H11: what the framework refuses, and what another host is asked for, is a Status too (%s)",
    async (encoding) => {
      const type = TYPES[encoding];
      const url = await send("/v1/logs%zz", "{}", { "content-type": type });
      const host = await send("/v1/logs", "{}", { "content-type": type, host: "elsewhere.example" });
      expect([url.status, host.status]).toEqual([400, 403]);
      for (const answer of [url, host]) {
        expect(answer.contentType).toBe(type);
        expect(statusOf(answer).message.length).toBeGreaterThan(0);
      }
    },
  );

  test.each(ENCODINGS)(
    "H3, T3: the answer has the request's type, bare, in success and in failure (%s)",
    async (encoding) => {
      const type = `${TYPES[encoding]}; charset=utf-8`;
      const good = await post(encoding, logs(encoding, [newChild()]), { "content-type": type });
      const bad = await post(encoding, "{", { "content-type": type });
      expect([good.status, good.contentType]).toEqual([200, TYPES[encoding]]);
      expect([bad.status, bad.contentType]).toEqual([400, TYPES[encoding]]);
    },
  );

  test.each(ENCODINGS)("H4, T2: none, gzip of one or of several members, and zstd are taken (%s)", async (encoding) => {
    const codings = {
      identity: (body: Buffer) => body,
      gzip: gzipSync,
      zstd: zstdCompressSync,
    } as const;
    for (const [coding, compress] of Object.entries(codings)) {
      const child = newChild();
      const answer = await post(encoding, compress(logs(encoding, [child])), { "content-encoding": coding });
      expect(answer.status).toBe(200);
      expect(await isKnown(child)).toBe(true);
    }
    const child = newChild();
    const body = logs(encoding, [child]);
    const members = Buffer.concat([gzipSync(body.subarray(0, 20)), gzipSync(body.subarray(20))]);
    expect((await post(encoding, members, { "content-encoding": "gzip" })).status).toBe(200);
    expect(await isKnown(child)).toBe(true);
  });

  test.each(ENCODINGS)("H5, T5: over the limit, as sent or after decompression, is 413 (%s)", async (encoding) => {
    const large = Buffer.alloc(MAX_BODY_BYTES + 1);
    const plain = await post(encoding, large);
    const bomb = await post(encoding, gzipSync(large), { "content-encoding": "gzip" });
    const chunked = await post(encoding, large, { "transfer-encoding": "chunked" });
    expect([plain.status, bomb.status, chunked.status]).toEqual([413, 413, 413]);
    const zstd = await post(encoding, zstdCompressSync(large), { "content-encoding": "zstd" });
    expect(zstd.status).toBe(413);
    expect(statusOf(plain).message).toContain(String(MAX_BODY_BYTES));
    expect((await post(encoding, logs(encoding, [newChild()]))).status).toBe(200);
  });

  test.each(ENCODINGS)(
    "H6, H9, T10: a partial success counts all and names few; the rest is stored; it stays small (%s)",
    async (encoding) => {
      const good = newChild();
      const broken = Array.from({ length: 500 }, () => ({ ...newChild(), childId: " " }));
      const answer = await post(encoding, logs(encoding, [good, ...broken]));
      expect(answer.status).toBe(200);
      expect(answer.body.length).toBeLessThan(8_192);
      const { rejectedLogRecords, errorMessage } = outcomeOf(answer, encoding);
      expect(rejectedLogRecords).toBe(500);
      expect(errorMessage).toMatch(/invalid_event.*record 1:/);
      if (encoding === "json") expect(answer.body.toString()).toContain('"rejectedLogRecords":"500"');
      expect(await isKnown(good)).toBe(true);
    },
  );

  test.each(ENCODINGS)("H8, T1: a request without records is a success (%s)", async (encoding) => {
    for (const body of encoding === "json" ? ["{}", '{"resourceLogs":[]}', '{"resourceLogs":[{}]}'] : [""]) {
      expect((await post(encoding, body)).status).toBe(200);
    }
  });

  test.each(ENCODINGS)(
    "H10: where nothing was rejected there is no partial_success, not an empty one (%s)",
    async (encoding) => {
      const event = newChild();
      await post(encoding, logs(encoding, [event]));
      const repeated = await post(encoding, logs(encoding, [event]));
      expect(repeated.body.toString()).toBe(encoding === "json" ? "{}" : "");
    },
  );

  test.each(ENCODINGS)(
    "H11, H12, T6: what is no request is 400 with a Status and BadRequest in the request's encoding (%s)",
    async (encoding) => {
      const answer = await post(encoding, encoding === "json" ? '{"resourceLogs": [' : Buffer.from([0x0a, 0xff, 0x01]));
      expect(answer.status).toBe(400);
      const status = statusOf(answer);
      expect(status).toMatchObject({ code: 3 });
      expect(JSON.stringify(status.details)).toContain("BadRequest");
      const cut = await post(encoding, gzipSync(logs(encoding, [newChild()])).subarray(0, 30), {
        "content-encoding": "gzip",
      });
      expect([cut.status, statusOf(cut).code]).toEqual([400, 3]);
    },
  );

  test("H11, T4: another type is 415, another method 405, an unknown coding 415, each as Status", async () => {
    const type = await send("/v1/logs", "x", { "content-type": "text/plain" });
    const method = await send("/v1/logs", "", { "content-type": TYPES.json }, "PUT");
    const coding = await post("protobuf", "x", { "content-encoding": "br" });
    expect([type.status, method.status, coding.status]).toEqual([415, 405, 415]);
    for (const answer of [type, method, coding]) expect(statusOf(answer).message.length).toBeGreaterThan(0);
    expect(method.headers["allow"]).toContain("POST");
  });

  test("H13: none of these refusals asks to be retried", async () => {
    const answers = [
      await post("json", "{"),
      await post("json", Buffer.alloc(MAX_BODY_BYTES + 1)),
      await send("/v1/traces", "{}", { "content-type": TYPES.json }),
      await send("/v1/logs", "x", { "content-type": "text/plain" }),
    ];
    for (const { status, headers } of answers) {
      expect([429, 502, 503, 504]).not.toContain(status);
      expect(headers["retry-after"]).toBeUndefined();
    }
  });

  test.each(ENCODINGS)("H15, T13: the same request twice changes nothing (%s)", async (encoding) => {
    const child = newChild();
    const body = logs(encoding, [child]);
    await post(encoding, body);
    const before = collector.reader.lastInputId();
    expect((await post(encoding, body)).status).toBe(200);
    expect(collector.reader.lastInputId()).toBe(before);
  });

  test("H16, T7: unknown members are ignored, wherever they are; so are unknown protobuf fields", async () => {
    const [first, second] = [newChild(), newChild()];
    const body = jsonOf(first, (record) => Object.assign(record, { later: { than: ["this", 1] }, __proto: null }));
    expect((await post("json", body)).status).toBe(200);
    const unknownField = Buffer.from([0xfa, 0x3e, 0x02, 0x68, 0x69]);
    expect((await post("protobuf", Buffer.concat([logs("protobuf", [second]), unknownField]))).status).toBe(200);
    expect([await isKnown(first), await isKnown(second)]).toEqual([true, true]);
  });

  test("H17, H19, T18: snake_case names and names of enums are taken as well, as the OpenTelemetry Collector takes them", async () => {
    const child = newChild();
    const body = jsonOf(child, (record) => {
      record["time_unix_nano"] = record["timeUnixNano"];
      record["severity_number"] = "SEVERITY_NUMBER_INFO";
      delete record["timeUnixNano"];
      delete record["severityNumber"];
    });
    const snake = body
      .replaceAll('"resourceLogs"', '"resource_logs"')
      .replaceAll('"scopeLogs"', '"scope_logs"')
      .replaceAll('"logRecords"', '"log_records"');
    expect((await post("json", snake)).status).toBe(200);
    expect(await isKnown(child)).toBe(true);
  });

  test("H18, H22, T9: ids in hex of either case are read; those that are none cost the record nothing", async () => {
    for (const [traceId, spanId] of [
      ["0AF7651916CD43DD8448EB211C80319C", "b7ad6b7169203331"],
      ["00000000000000000000000000000000", "0000000000000000"],
      ["CvdlGRbNQ92ESOshHIAxnA==", "t61rcWkgMzE="],
      ["zz", ""],
    ]) {
      const child = newChild();
      const body = jsonOf(child, (record) => Object.assign(record, { traceId, spanId }));
      const answer = await post("json", body);
      expect([answer.status, answer.body.toString()]).toEqual([200, "{}"]);
      expect(await isKnown(child)).toBe(true);
    }
  });

  test("H20, T8: 64-bit integers are read as texts and as numbers; null means absent", async () => {
    for (const write of [String, Number]) {
      const child = newChild();
      const body = jsonOf(child, (record) => {
        record["droppedAttributesCount"] = null;
        record["timeUnixNano"] = write(record["timeUnixNano"]);
        for (const { value } of record["attributes"] as { value: Record<string, unknown> }[]) {
          if ("intValue" in value) value["intValue"] = write(value["intValue"]);
        }
      });
      expect((await post("json", body)).body.toString()).toBe("{}");
      expect(await isKnown(child)).toBe(true);
    }
  });

  test("H20, T8: integers at their limits, numbers in words, and values without any are read as what they are", async () => {
    const texts = ["9223372036854775807", "-9223372036854775808", "1", 1e21, "1e21"].map((intValue) => ({ intValue }));
    const doubles = [null, "NaN", "Infinity", "-Infinity", 1e308, "1.5"].map((doubleValue) => ({ doubleValue }));
    for (const value of [...texts, ...doubles, {}, null]) {
      const child = newChild();
      // Beside what an event is made of: whatever it is, the record is kept.
      const beside = jsonOf(child, (record) => (record["attributes"] as object[]).push({ key: "further", value }));
      expect((await post("json", beside)).body.toString()).toBe("{}");
      expect(await isKnown(child)).toBe(true);
      // In place of a sequence: an integer that is one is taken, and anything else refuses its own record alone.
      const within = jsonOf(newChild(), (record) => {
        const attributes = record["attributes"] as { key: string; value: unknown }[];
        const sequence = attributes.find(({ key }) => key === "agent_lifecycle.sequence");
        if (sequence === undefined) throw new Error("no sequence");
        sequence.value = value;
      });
      const { rejectedLogRecords } = outcomeOf(await post("json", within), "json");
      const isSequence = value === null || Object.keys(value).length === 0 || Object.values(value)[0] === null;
      expect([JSON.stringify(value), rejectedLogRecords]).toEqual([
        JSON.stringify(value),
        isSequence || Object.values(value)[0] === "1" ? 0 : 1,
      ]);
    }
  });

  test("H18: bytes are base64, and no lifecycle attribute is binary, in either encoding", async () => {
    for (const encoding of ENCODINGS) {
      const body = JSON.parse(logs("json", [newChild()]).toString()) as JsonRequest;
      for (const attribute of recordsOf(body).flatMap(({ attributes }) => attributes)) {
        if (attribute.key === "agent_lifecycle.source") attribute.value = { bytesValue: "c291cmNl" };
      }
      const sent = encoding === "json" ? JSON.stringify(body) : protobufOf(body);
      const { rejectedLogRecords, errorMessage } = outcomeOf(await post(encoding, sent), encoding);
      expect([rejectedLogRecords, errorMessage]).toEqual([1, expect.stringContaining("record 0: source")]);
    }
  });

  test("T9: ids of a wrong length, or of zeros, cost a record in protobuf nothing either", async () => {
    for (const traceId of [Buffer.alloc(15, 7), Buffer.alloc(17, 7), Buffer.alloc(16), Buffer.alloc(0)]) {
      const child = newChild();
      const body = JSON.parse(logs("json", [child]).toString()) as JsonRequest;
      for (const record of recordsOf(body))
        Object.assign(record, { traceId: traceId.toString("base64"), spanId: "AA==" });
      expect((await post("protobuf", protobufOf(body))).body.length).toBe(0);
      expect(await isKnown(child)).toBe(true);
    }
  });

  test("H17: of several values under one key the last one counts, in either encoding", async () => {
    for (const encoding of ENCODINGS) {
      const child = newChild();
      const body = JSON.parse(logs("json", [child]).toString()) as JsonRequest;
      for (const { attributes } of recordsOf(body)) {
        attributes.unshift({ key: "agent_lifecycle.child_id", value: { stringValue: "another" } });
      }
      const sent = encoding === "json" ? JSON.stringify(body) : protobufOf(body);
      expect((await post(encoding, sent)).status).toBe(200);
      expect(await isKnown(child)).toBe(true);
    }
  });

  test("H12, T6: members of a wrong kind, nesting without end and hostile names are answered, and nothing else breaks", async () => {
    const bodies = [
      '{"resourceLogs":5}',
      '{"resourceLogs":[5]}',
      '{"resourceLogs":[{"scopeLogs":{}}]}',
      "5",
      "[]",
      "null",
      '"x"',
    ];
    for (const body of [...bodies, `{"resourceLogs":${"[".repeat(500)}${"]".repeat(500)}}`]) {
      const answer = await post("json", body);
      expect([body.slice(0, 40), answer.status]).toEqual([body.slice(0, 40), 400]);
      expect(statusOf(answer)).toMatchObject({ code: 3 });
    }
    const child = newChild();
    const hostile = `{"__proto__":{"resourceLogs":5},${logs("json", [child]).toString().slice(1)}`;
    expect((await post("json", hostile)).body.toString()).toBe("{}");
    expect(await isKnown(child)).toBe(true);
  });

  test("H21: an attribute that only says an index of a string table is as if it were not there", async () => {
    const child = newChild();
    const body = jsonOf(child, (record) => {
      (record["attributes"] as object[]).push(
        { keyStrindex: 3, value: { stringValueStrindex: 7 } },
        { key: "x", value: { stringValueStrindex: 7 } },
      );
    });
    expect(outcomeOf(await post("json", body), "json").rejectedLogRecords).toBe(0);
    expect(await isKnown(child)).toBe(true);
  });

  test("H23, T16: no answer lets a page of another origin in", async () => {
    const preflight = await send(
      "/v1/logs",
      "",
      { origin: "https://elsewhere.example", "access-control-request-method": "POST" },
      "OPTIONS",
    );
    const posted = await post("json", "{}", { origin: "https://elsewhere.example" });
    for (const { headers } of [preflight, posted]) expect(headers["access-control-allow-origin"]).toBeUndefined();
  });
});
