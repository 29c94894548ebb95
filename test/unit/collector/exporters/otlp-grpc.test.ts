import { encodeStatusProtobuf } from "@agent-lifecycle/proto";
import { Metadata, Server, ServerCredentials, type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { makeEvent } from "../../../kit/events.ts";
import { startExporting } from "./exporting-collector.ts";

type Signal = "logs" | "trace" | "metrics";
type Answer = () => Partial<ServiceError> | undefined;

interface GrpcDestination {
  readonly port: number;
  readonly calls: readonly { readonly signal: Signal; readonly metadata: Metadata; readonly body: Buffer }[];
  answer: Answer;
  stop(): void;
}

/** A busy machine needs its time. */
const WAIT = { timeout: 10_000 };

const NAMES = { logs: "LogsService", trace: "TraceService", metrics: "MetricsService" } as const;

/** A real gRPC server with the three services of OTLP. */
async function startGrpcDestination(
  port = 0,
  credentials = ServerCredentials.createInsecure(),
): Promise<GrpcDestination> {
  const server = new Server();
  const calls: { signal: Signal; metadata: Metadata; body: Buffer }[] = [];
  for (const [signal, name] of Object.entries(NAMES) as [Signal, string][]) {
    const definition = {
      Export: {
        path: `/opentelemetry.proto.collector.${signal}.v1.${name}/Export`,
        requestStream: false,
        responseStream: false,
        requestDeserialize: (bytes: Buffer) => bytes,
        requestSerialize: (bytes: Buffer) => bytes,
        responseDeserialize: (bytes: Buffer) => bytes,
        responseSerialize: (bytes: Buffer) => bytes,
      },
    } as const;
    server.addService(definition, {
      Export: (
        call: { request: Buffer; metadata: Metadata },
        callback: (error: Partial<ServiceError> | null, response?: Buffer) => void,
      ) => {
        calls.push({ signal, metadata: call.metadata, body: call.request });
        const error = destination.answer();
        if (error === undefined) callback(null, Buffer.alloc(0));
        else callback(error);
      },
    });
  }
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, found) => (error ? reject(error) : resolve(found)));
  });
  const destination: GrpcDestination = {
    port: bound,
    calls,
    answer: () => undefined,
    stop: () => server.forceShutdown(),
  };
  onTestFinished(() => server.forceShutdown());
  return destination;
}

const settings = (port: number, signal: "logs" | "traces" | "metrics") =>
  ({ endpoint: `127.0.0.1:${port}`, signals: [signal], initialBackoffMs: 1, maxBackoffMs: 20 }) as const;

const created = makeEvent({ state: "created", sequence: 1 });
const SENT = 'agent_lifecycle_export_records_total{exporter="otlp_grpc:logs",outcome="sent"} 1';

describe("OTLP/gRPC", () => {
  it.each([
    ["logs", "logs"],
    ["traces", "trace"],
    ["metrics", "metrics"],
  ] as const)("sends %s to their service, with the configured headers", async (signal, service) => {
    const destination = await startGrpcDestination();
    const headers = new Map([["authorization", "Bearer of-the-test"]]);
    const collector = await startExporting({ otlp_grpc: { ...settings(destination.port, signal), headers } });
    await collector.store(created, makeEvent({ state: "cancelled", sequence: 2, at: 1 }));
    if (signal === "metrics") await collector.stop();
    await expect.poll(() => destination.calls.length).toBeGreaterThan(0);
    const [call] = destination.calls;
    expect(call?.signal).toBe(service);
    expect(call?.metadata.get("authorization")).toEqual(["Bearer of-the-test"]);
    expect(call?.body.length).toBeGreaterThan(100);
  });

  test.each([
    ["UNAVAILABLE", status.UNAVAILABLE],
    ["ABORTED", status.ABORTED],
    ["UNAUTHENTICATED", status.UNAUTHENTICATED],
    ["INTERNAL", status.INTERNAL],
  ])("%s: it comes again", async (_, code) => {
    const destination = await startGrpcDestination();
    destination.answer = () => (destination.calls.length < 3 ? { code, details: "not now" } : undefined);
    const collector = await startExporting({ otlp_grpc: settings(destination.port, "logs") });
    await collector.store(created);
    await expect.poll(() => collector.metrics(), WAIT).toContain(SENT);
    expect(destination.calls).toHaveLength(3);
  });

  test("RESOURCE_EXHAUSTED: with RetryInfo it comes again, without it is too large", async () => {
    const destination = await startGrpcDestination();
    const code = status.RESOURCE_EXHAUSTED;
    const metadata = new Metadata();
    const busy = encodeStatusProtobuf({ code, message: "busy", retryDelayMs: 5 });
    metadata.set("grpc-status-details-bin", Buffer.from(busy));
    destination.answer = () => (destination.calls.length < 2 ? { code, details: "busy", metadata } : undefined);
    const collector = await startExporting({ otlp_grpc: settings(destination.port, "logs") });
    await collector.store(created);
    await expect.poll(() => collector.metrics(), WAIT).toContain(SENT);
    destination.answer = () => ({ code, details: "too large" });
    await collector.store(makeEvent({ state: "starting", sequence: 2, at: 1 }));
    await expect.poll(() => collector.metrics(), WAIT).toContain('exporter="otlp_grpc:logs",outcome="set_aside"} 1');
  });

  it("goes on by itself when its destination is there again, on the same port", async () => {
    const destination = await startGrpcDestination();
    const collector = await startExporting({ otlp_grpc: settings(destination.port, "logs") });
    destination.stop();
    await collector.store(created);
    await expect.poll(() => collector.complaints.length).toBe(1);
    const again = await startGrpcDestination(destination.port);
    await expect.poll(() => again.calls.length, { timeout: 8_000 }).toBe(1);
  });
});
