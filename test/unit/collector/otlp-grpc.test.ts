import { gzipSync } from "node:zlib";
import { status as STATUS } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import {
  exportEvents,
  exportMessage,
  framed,
  grpcClient,
  RecordedRequests,
  rawCall,
  rawConnection,
  rawStatus,
  startGrpc,
} from "./grpc-fixture.ts";
import { otlpBody } from "./ingest-fixture.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const created = makeEvent({ childId: "a", state: "created", sequence: 1 });
const starting = makeEvent({ childId: "a", state: "starting", sequence: 2, at: 1_000 });
const broken = { ...starting, state: "asleep" } as unknown as typeof starting;

/** `grpc.default_compression_algorithm` of clients. */
const COMPRESSIONS = { identity: 0, deflate: 1, gzip: 2 } as const;

describe("OTLP/gRPC", () => {
  it.each(Object.entries(COMPRESSIONS))("hands over every event of a message with %s", async (_name, algorithm) => {
    const intake = new ScriptedIntake();
    const requests = new RecordedRequests();
    const receiver = await startGrpc(intake, { telemetry: requests });
    const client = grpcClient(receiver, undefined, { "grpc.default_compression_algorithm": algorithm });
    const result = await exportEvents(client, [created, starting]);
    expect(result).toMatchObject({ code: STATUS.OK, answerBytes: 0 });
    expect(intake.candidates).toMatchObject([
      { childId: "a", kind: "created", observedAt: created.observedAt },
      { childId: "a", state: "starting", sequence: 2 },
    ]);
    expect(intake.received[0]?.origin).toEqual({
      receiver: "otlp_grpc",
      backfill: false,
      bytes: otlpBody("protobuf", [created, starting]).length,
    });
    expect(requests.outcomes).toEqual(["otlp_grpc accepted"]);
  });

  it("answers an empty request with full success, and asks nobody to store it", async () => {
    const intake = new ScriptedIntake();
    const client = grpcClient(await startGrpc(intake));
    expect(await exportMessage(client, Buffer.alloc(0))).toMatchObject({
      code: STATUS.OK,
      answerBytes: 0,
      outcome: { rejectedLogRecords: 0, errorMessage: "" },
    });
    expect(intake.received).toEqual([]);
  });

  it("refuses what breaks the contract, says where and which rule, and keeps the rest (T10)", async () => {
    const intake = new ScriptedIntake();
    const client = grpcClient(await startGrpc(intake));
    const events = [created, broken, starting, ...Array.from({ length: 9 }, () => broken)];
    const { code, outcome } = await exportEvents(client, events);
    expect(code).toBe(STATUS.OK);
    expect(outcome?.rejectedLogRecords).toBe(10);
    expect(outcome?.errorMessage).toMatch(/^invalid_event: record 1: state .*; record 3: state .*; and 5 more$/);
    expect(intake.candidates).toHaveLength(12);
  });

  it("names every rule that was broken", async () => {
    const intake = new ScriptedIntake();
    intake.acceptEvents = async () => ({
      kind: "stored",
      outcomes: [
        { status: "rejected", diagnostics: [{ code: "source_not_allowed", path: "source", text: "no" }] },
        { status: "rejected", diagnostics: [{ code: "invalid_event", path: "state", text: "no" }] },
      ],
    });
    const client = grpcClient(await startGrpc(intake));
    const { outcome } = await exportEvents(client, [created, starting]);
    expect(outcome).toEqual({
      rejectedLogRecords: 2,
      errorMessage: "source_not_allowed, invalid_event: record 0: source no; record 1: state no",
    });
  });

  it("accepts and counts records of other origin", async () => {
    const intake = new ScriptedIntake();
    const client = grpcClient(await startGrpc(intake));
    // ResourceLogs { ScopeLogs { LogRecord {} } }
    const foreign = Buffer.from([0x0a, 0x04, 0x12, 0x02, 0x12, 0x00]);
    expect(await exportMessage(client, foreign)).toMatchObject({ code: STATUS.OK, answerBytes: 0 });
    expect(intake.foreign).toEqual(new Map([["otlp_grpc", 1]]));
  });

  it("answers what is no request with INVALID_ARGUMENT and BadRequest", async () => {
    const requests = new RecordedRequests();
    const client = grpcClient(await startGrpc(new ScriptedIntake(), { telemetry: requests }));
    const result = await exportMessage(client, Buffer.from([0x0a, 0x7f, 0x01]));
    expect(result.code).toBe(STATUS.INVALID_ARGUMENT);
    expect(result.details).toEqual({ BadRequest: { fieldViolations: [{ field: "body", description: result.text }] } });
    expect(requests.outcomes).toEqual(["otlp_grpc rejected"]);
  });

  it("answers a message that does not decompress with INVALID_ARGUMENT and BadRequest", async () => {
    const requests = new RecordedRequests();
    const session = await rawConnection(await startGrpc(new ScriptedIntake(), { telemetry: requests }));
    const whole = gzipSync(otlpBody("protobuf", [created]));
    for (const bytes of [Buffer.from("no gzip"), whole.subarray(0, -9)]) {
      const stream = rawCall(session, { "grpc-encoding": "gzip" });
      stream.end(framed(bytes, true));
      expect(await rawStatus(stream)).toBe(STATUS.INVALID_ARGUMENT);
    }
    expect(requests.outcomes).toEqual(["otlp_grpc rejected", "otlp_grpc rejected"]);
  });

  it("answers a deadline that is none with INVALID_ARGUMENT", async () => {
    const requests = new RecordedRequests();
    const session = await rawConnection(await startGrpc(new ScriptedIntake(), { telemetry: requests }));
    const stream = rawCall(session, { "grpc-timeout": "soon" });
    expect(await rawStatus(stream)).toBe(STATUS.INVALID_ARGUMENT);
    expect(requests.outcomes).toEqual(["otlp_grpc rejected"]);
  });

  it("answers an unknown compression with UNIMPLEMENTED, and says which are known", async () => {
    const session = await rawConnection(await startGrpc(new ScriptedIntake()));
    const stream = rawCall(session, { "grpc-encoding": "snappy" });
    const answered = new Promise<Readonly<Record<string, unknown>>>((resolve) => stream.once("response", resolve));
    stream.end(framed(otlpBody("protobuf", [created]), true));
    expect(await answered).toMatchObject({
      "grpc-status": String(STATUS.UNIMPLEMENTED),
      "grpc-accept-encoding": "identity,deflate,gzip",
    });
  });

  it("answers a second message with UNIMPLEMENTED", async () => {
    const intake = new ScriptedIntake();
    const session = await rawConnection(await startGrpc(intake));
    const stream = rawCall(session);
    const message = framed(otlpBody("protobuf", [created]));
    stream.end(Buffer.concat([message, message]));
    expect(await rawStatus(stream)).toBe(STATUS.UNIMPLEMENTED);
    expect(intake.received).toEqual([]);
  });

  it("answers a call without a message with UNIMPLEMENTED", async () => {
    const requests = new RecordedRequests();
    const stream = rawCall(await rawConnection(await startGrpc(new ScriptedIntake(), { telemetry: requests })));
    stream.end();
    expect(await rawStatus(stream)).toBe(STATUS.UNIMPLEMENTED);
    expect(requests.outcomes).toEqual(["otlp_grpc rejected"]);
  });

  it.each(["trace.v1.TraceService", "metrics.v1.MetricsService", "profiles.v1development.ProfilesService"])(
    "says of %s that it takes logs only",
    async (service) => {
      const client = grpcClient(await startGrpc(new ScriptedIntake()));
      const path = `/opentelemetry.proto.collector.${service}/Export`;
      expect(await exportMessage(client, Buffer.alloc(0), { path })).toMatchObject({
        code: STATUS.UNIMPLEMENTED,
        text: "this collector takes logs only",
        details: {},
      });
    },
  );

  it("answers a method that nobody has with UNIMPLEMENTED", async () => {
    const client = grpcClient(await startGrpc(new ScriptedIntake()));
    const result = await exportMessage(client, Buffer.alloc(0), { path: "/some.Service/Method" });
    expect(result.code).toBe(STATUS.UNIMPLEMENTED);
  });
});
