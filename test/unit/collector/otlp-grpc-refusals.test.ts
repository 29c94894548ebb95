import type { Refusal } from "@agent-lifecycle/collector";
import type { AccessControl, OtlpGrpcOptions } from "@agent-lifecycle/collector/parts";
import { status as STATUS } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import {
  exportEvents,
  exportMessage,
  grpcClient,
  RecordedRequests,
  rawCall,
  rawConnection,
  rawStatus,
  startExport,
  startGrpc,
} from "./grpc-fixture.ts";
import { otlpBody } from "./ingest-fixture.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const created = makeEvent({ childId: "a", state: "created", sequence: 1 });

describe("a refusal over OTLP/gRPC", () => {
  const refusals: readonly [string, Refusal, number, unknown, string][] = [
    [
      "overload: UNAVAILABLE, to be tried again (T11)",
      { kind: "overloaded", retryAfterSeconds: 0.2 },
      STATUS.UNAVAILABLE,
      { RetryInfo: { retryDelay: { seconds: 1 } } },
      "overloaded",
    ],
    [
      "too high a rate: RESOURCE_EXHAUSTED, to be tried again",
      { kind: "rate_limited", retryAfterSeconds: 2 },
      STATUS.RESOURCE_EXHAUSTED,
      { RetryInfo: { retryDelay: { seconds: 2 } } },
      "rejected",
    ],
    [
      "a store that will be back: UNAVAILABLE, to be tried again",
      { kind: "unavailable", retryable: true, reason: "disk full" },
      STATUS.UNAVAILABLE,
      { RetryInfo: { retryDelay: { seconds: 1 } } },
      "overloaded",
    ],
    [
      "a store that will not: INTERNAL, which is final",
      { kind: "unavailable", retryable: false, reason: "corrupt" },
      STATUS.INTERNAL,
      {},
      "failed",
    ],
  ];

  it.each(refusals)("of the store for %s", async (_name, refusal, code, details, outcome) => {
    const intake = new ScriptedIntake();
    intake.refusals.push(refusal);
    const requests = new RecordedRequests();
    const client = grpcClient(await startGrpc(intake, { telemetry: requests }));
    expect(await exportEvents(client, [created])).toMatchObject({ code, details });
    expect(intake.received).toEqual([]);
    expect(requests.outcomes).toEqual([`otlp_grpc ${outcome}`]);
  });

  it.each(refusals)(
    "of the admission for %s comes before the message",
    async (_name, refusal, code, _details, outcome) => {
      const requests = new RecordedRequests();
      const asked: string[] = [];
      const admission = {
        refusal: (sender: string) => {
          asked.push(sender);
          return refusal;
        },
      };
      const session = await rawConnection(await startGrpc(new ScriptedIntake(), { telemetry: requests, admission }));
      // Headers only: whatever is answered now was decided without a byte of a message.
      expect(await rawStatus(rawCall(session))).toBe(code);
      expect(asked).toEqual(["anonymous"]);
      expect(requests.outcomes).toEqual([`otlp_grpc ${outcome}`]);
    },
  );

  it("for a fault of ours says nothing of it", async () => {
    const faults: unknown[] = [];
    const intake = new ScriptedIntake();
    const fault = new Error("secret path /var/lib");
    intake.acceptEvents = () => Promise.reject(fault);
    const client = grpcClient(await startGrpc(intake, { onError: (error) => faults.push(error) }));
    expect(await exportEvents(client, [created])).toMatchObject({
      code: STATUS.INTERNAL,
      text: "the collector failed to handle the request",
      details: {},
    });
    expect(faults).toEqual([fault]);
  });
});

/** Tokens for nobody, everybody, and one source. */
const ACCESS: AccessControl = {
  authorize: (scope, { authorization }) => {
    if (authorization === "Bearer some") {
      const principal = { name: "runner", scopes: new Set([scope]), sources: new Set(["runner-1"]) };
      return { allowed: true, principal };
    }
    if (authorization === "Bearer reader") {
      const principal = { name: "reader", scopes: new Set(["read"] as const), sources: undefined };
      return { allowed: false, reason: "forbidden", principal, text: "reader may not send" };
    }
    return { allowed: false, reason: "unauthenticated", text: "a token is needed" };
  },
};

describe("who may send over OTLP/gRPC", () => {
  async function startProtected(options: Partial<OtlpGrpcOptions> = {}) {
    const intake = new ScriptedIntake();
    return { intake, receiver: await startGrpc(intake, { access: ACCESS, ...options }) };
  }

  it.each([
    ["nobody without a token", undefined, STATUS.UNAUTHENTICATED, "a token is needed"],
    ["nobody with a wrong token", "Bearer wrong", STATUS.UNAUTHENTICATED, "a token is needed"],
    ["nobody whose token is for something else", "Bearer reader", STATUS.PERMISSION_DENIED, "reader may not send"],
  ])("is %s", async (_name, authorization, code, text) => {
    const { intake, receiver } = await startProtected();
    const metadata = authorization === undefined ? {} : { authorization };
    const client = grpcClient(receiver);
    expect(await exportEvents(client, [created], { metadata })).toMatchObject({ code, text, details: {} });
    const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
    expect(await exportMessage(client, Buffer.alloc(0), { metadata, path })).toMatchObject({ code });
    expect(intake.received).toEqual([]);
  });

  it("is known before the message is read, and the admission is not asked for others", async () => {
    const asked: string[] = [];
    const admission = { refusal: (sender: string) => void asked.push(sender) };
    const { receiver } = await startProtected({ admission });
    const session = await rawConnection(receiver);
    expect(await rawStatus(rawCall(session))).toBe(STATUS.UNAUTHENTICATED);
    expect(asked).toEqual([]);
    const metadata = { authorization: "Bearer some" };
    expect(await exportEvents(grpcClient(receiver), [created], { metadata })).toMatchObject({ code: STATUS.OK });
    expect(asked).toEqual(["runner"]);
  });

  it("is not found out by sending much: what is refused is thrown away, and the connection stays usable", async () => {
    const { intake, receiver } = await startProtected();
    const client = grpcClient(receiver);
    const much = Buffer.alloc(30_000_000);
    const refused = await Promise.all(Array.from({ length: 5 }, () => exportMessage(client, much)));
    expect(refused.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => STATUS.UNAUTHENTICATED));
    const metadata = { authorization: "Bearer some" };
    expect(await exportEvents(client, [created], { metadata })).toMatchObject({ code: STATUS.OK });
    expect(intake.received).toHaveLength(1);
  });

  it("is whoever has a token, for the sources it is for", async () => {
    const { intake, receiver } = await startProtected();
    const metadata = { authorization: "Bearer some" };
    expect(await exportEvents(grpcClient(receiver), [created], { metadata })).toMatchObject({ code: STATUS.OK });
    expect(intake.received[0]?.origin.allowedSources).toEqual(new Set(["runner-1"]));
  });

  it("is everybody when nothing is said of it, for any source", async () => {
    const intake = new ScriptedIntake();
    expect(await exportEvents(grpcClient(await startGrpc(intake)), [created])).toMatchObject({ code: STATUS.OK });
    expect(intake.received[0]?.origin).not.toHaveProperty("allowedSources");
  });
});

describe("a call over OTLP/gRPC that its client gives up", () => {
  it("by cancelling is counted once, and what came with it is stored", async () => {
    const intake = new ScriptedIntake();
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    intake.acceptEvents = async () => {
      entered.resolve();
      await gate.promise;
      return { kind: "stored", outcomes: [] };
    };
    const requests = new RecordedRequests();
    const client = grpcClient(await startGrpc(intake, { telemetry: requests }));
    const { call, result } = startExport(client, otlpBody("protobuf", [created]));
    await entered.promise;
    call.cancel();
    expect(await result).toMatchObject({ code: STATUS.CANCELLED });
    expect(await requests.ended(1)).toEqual(["otlp_grpc aborted"]);
    gate.resolve();
    expect(await exportEvents(client, [created])).toMatchObject({ code: STATUS.OK });
    expect(requests.outcomes).toEqual(["otlp_grpc aborted", "otlp_grpc accepted"]);
  });

  it("by its deadline is counted as aborted", async () => {
    const intake = new ScriptedIntake();
    const gate = Promise.withResolvers<void>();
    intake.gate = gate.promise;
    const requests = new RecordedRequests();
    const client = grpcClient(await startGrpc(intake, { telemetry: requests }));
    expect(await exportEvents(client, [created], { deadline: Date.now() + 100 })).toMatchObject({
      code: STATUS.DEADLINE_EXCEEDED,
    });
    expect(await requests.ended(1)).toEqual(["otlp_grpc aborted"]);
    gate.resolve();
  });
});
