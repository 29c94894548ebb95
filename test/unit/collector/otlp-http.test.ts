import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import {
  MEDIA_TYPES,
  type OtlpEncoding,
  otlpBody,
  outcomeOf,
  postLogs,
  startIngest,
  statusOf,
} from "./ingest-fixture.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const ENCODINGS: readonly OtlpEncoding[] = ["protobuf", "json"];

const created = makeEvent({ childId: "a", state: "created", sequence: 1 });
const starting = makeEvent({ childId: "a", state: "starting", sequence: 2, at: 1_000 });

describe.each(ENCODINGS)("OTLP/HTTP in %s", (encoding) => {
  it("answers an empty request with full success (T1, H7)", async () => {
    const server = await startIngest(new ScriptedIntake());
    const response = await postLogs(server, encoding, encoding === "protobuf" ? "" : "{}");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(MEDIA_TYPES[encoding]);
    expect(await response.text()).toBe(encoding === "protobuf" ? "" : "{}");
  });

  it.each([
    ["no compression", undefined, (body: Buffer) => body],
    ["gzip", "gzip", (body: Buffer) => gzipSync(body)],
    ["x-gzip", "X-GZip", (body: Buffer) => gzipSync(body)],
    [
      "gzip of several members",
      "gzip",
      (body: Buffer) => Buffer.concat([gzipSync(body.subarray(0, 40)), gzipSync(body.subarray(40))]),
    ],
    ["zstd", "zstd", (body: Buffer) => zstdCompressSync(body)],
  ])("hands over every event of a request with %s (T2)", async (_name, coding, compress) => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const body = Uint8Array.from(compress(otlpBody(encoding, [created, starting])));
    const response = await postLogs(server, encoding, body, coding === undefined ? {} : { "content-encoding": coding });
    expect(response.status).toBe(200);
    expect(await outcomeOf(response, encoding)).toEqual({ rejectedLogRecords: 0, errorMessage: "" });
    expect(intake.candidates).toMatchObject([
      { childId: "a", kind: "created", observedAt: created.observedAt },
      { childId: "a", state: "starting", sequence: 2 },
    ]);
    expect(intake.received[0]?.origin).toMatchObject({ receiver: "otlp_http", backfill: false });
  });

  it("ignores parameters of the content type and answers with the bare one (T3, H3)", async () => {
    const server = await startIngest(new ScriptedIntake());
    const contentType = `${MEDIA_TYPES[encoding].toUpperCase()} ; charset=utf-8`;
    const response = await postLogs(server, encoding, otlpBody(encoding, [created]), { "content-type": contentType });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(MEDIA_TYPES[encoding]);
  });

  it("refuses what breaks the contract, says where and why, and keeps the rest (T10, H9)", async () => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const broken = { ...starting, state: "asleep" } as unknown as typeof starting;
    const body = otlpBody(encoding, [created, broken, starting, ...Array.from({ length: 9 }, () => broken)]);
    const response = await postLogs(server, encoding, body);
    expect(response.status).toBe(200);
    const outcome = await outcomeOf(response, encoding);
    expect(outcome?.rejectedLogRecords).toBe(10);
    expect(outcome?.errorMessage).toMatch(/^invalid_event: record 1: state .*; record 3: state .*; and 5 more$/);
    expect(intake.candidates).toHaveLength(12);
  });

  it("asks for a retry when it is overloaded, and acknowledges nothing then (T11, H13, H14)", async () => {
    const intake = new ScriptedIntake();
    intake.refusals.push({ kind: "overloaded", retryAfterSeconds: 0.2 });
    const server = await startIngest(intake);
    const response = await postLogs(server, encoding, otlpBody(encoding, [created]));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(response.headers.get("content-type")).toBe(MEDIA_TYPES[encoding]);
    expect((await statusOf(response, encoding))?.code).toBe(14);
    expect(intake.received).toEqual([]);
  });

  it.each([
    [true, 503, "1"],
    [false, 500, null],
  ])("tells a store that may heal (%s) from one that will not", async (retryable, statusCode, retryAfter) => {
    const intake = new ScriptedIntake();
    intake.refusals.push({ kind: "unavailable", retryable, reason: "disk /secret/path is full" });
    const server = await startIngest(intake);
    const response = await postLogs(server, encoding, otlpBody(encoding, [created]));
    expect(response.status).toBe(statusCode);
    expect(response.headers.get("retry-after")).toBe(retryAfter);
    expect((await statusOf(response, encoding))?.message).not.toContain("/secret/path");
  });

  it.each([
    ["a method that is none of its", "PUT", "/v1/logs", {}, 405],
    ["a path it does not have", "POST", "/v2/logs", {}, 404],
    ["traces", "POST", "/v1/traces", {}, 404],
    ["metrics", "POST", "/v1/metrics", {}, 404],
    ["a coding it does not have", "POST", "/v1/logs", { "content-encoding": "br" }, 415],
    ["a chain of codings", "POST", "/v1/logs", { "content-encoding": "gzip, gzip" }, 415],
  ])(
    "answers %s with a Status in the request's encoding (T4, H11)",
    async (_name, method, path, headers, statusCode) => {
      const server = await startIngest(new ScriptedIntake());
      const response = await fetch(server.url() + path, {
        method,
        headers: { "content-type": MEDIA_TYPES[encoding], ...headers },
        body: otlpBody(encoding, [created]),
      });
      expect(response.status).toBe(statusCode);
      expect(response.headers.get("content-type")).toBe(MEDIA_TYPES[encoding]);
      expect((await statusOf(response, encoding))?.message).not.toBe("");
      if (statusCode === 405) expect(response.headers.get("allow")).toBe("POST");
      if (statusCode === 415) expect(response.headers.get("accept-encoding")).toContain("gzip");
    },
  );

  it.each([
    ["noise", (body: Buffer) => Buffer.concat([Buffer.from("\u0007\uffff{{"), body]), undefined],
    ["a body that ends in the middle", (body: Buffer) => body.subarray(0, body.length - 7), undefined],
    ["gzip that ends in the middle", (body: Buffer) => gzipSync(body).subarray(0, 60), "gzip"],
    ["what is no gzip at all", (body: Buffer) => body, "gzip"],
    ["gzip with something else behind it", (body: Buffer) => Buffer.concat([gzipSync(body), body]), "gzip"],
    ["zstd that ends in the middle", (body: Buffer) => zstdCompressSync(body).subarray(0, 60), "zstd"],
  ])("calls %s malformed (T6, H12)", async (_name, distort, coding) => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const body = Uint8Array.from(distort(otlpBody(encoding, [created])));
    const response = await postLogs(server, encoding, body, coding === undefined ? {} : { "content-encoding": coding });
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe(MEDIA_TYPES[encoding]);
    expect((await statusOf(response, encoding))?.code).toBe(3);
    expect(intake.received).toEqual([]);
  });
});
