import { join } from "node:path";
import { createLifecycle, type Lifecycle, type LifecycleOptions, type SdkDiagnostic } from "@agent-lifecycle/sdk";
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { OTLPLogExporter as JsonExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtobufExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { describe, expect, it, onTestFinished } from "vitest";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { answerWith, breakOff, hang, startLogsServer, succeed } from "./logs-server.ts";

interface Running {
  readonly lifecycle: Lifecycle;
  readonly diagnostics: readonly SdkDiagnostic[];
}

function start(options: Partial<LifecycleOptions>, environment: Readonly<Record<string, string>> = {}): Running {
  const diagnostics: SdkDiagnostic[] = [];
  const lifecycle = createLifecycle(
    {
      source: "e2e",
      exitHooks: false,
      heartbeatIntervalMs: 0,
      onDiagnostic: (each) => diagnostics.push(each),
      ...options,
    },
    // The back-off is 400 ms for the first retry then, whatever chance says.
    { environment, random: () => 1 },
  );
  onTestFinished(async () => {
    await lifecycle.shutdown({ timeoutMs: 0 });
  });
  return { lifecycle, diagnostics };
}

function emitSome(lifecycle: Lifecycle): void {
  const child = lifecycle.child();
  child.starting();
  child.running();
  child.activity("works", { tool: "bash" });
  child.completed();
}

const STATES = ["created", "starting", "running", undefined, "completed"];

describe("requests", () => {
  const wires = [
    ["http/json", "none", "application/json", undefined],
    ["http/json", "gzip", "application/json", "gzip"],
    ["http/protobuf", "none", "application/x-protobuf", undefined],
    ["http/protobuf", "gzip", "application/x-protobuf", "gzip"],
  ] as const;
  for (const [protocol, compression, contentType, contentEncoding] of wires) {
    it(`carry every event as ${protocol} with ${compression}`, async () => {
      const server = await startLogsServer();
      const { lifecycle } = start(
        { endpoint: server.endpoint, protocol },
        { OTEL_EXPORTER_OTLP_COMPRESSION: compression },
      );
      emitSome(lifecycle);
      expect(await lifecycle.shutdown()).toEqual({ complete: true });
      expect(server.accepted().map((event) => event.state)).toEqual(STATES);
      expect(server.requests[0]?.path).toBe("/v1/logs");
      expect(server.requests[0]?.headers["content-type"]).toBe(contentType);
      expect(server.requests[0]?.headers["content-encoding"]).toBe(contentEncoding);
      expect(server.requests[0]?.headers["user-agent"]).toMatch(/^agent-lifecycle-sdk\//);
    });
  }

  const places = [
    ["a base URL", (base: string) => ({ endpoint: base }), {}, "/v1/logs"],
    ["a base URL with a path", (base: string) => ({ endpoint: `${base}/otlp/` }), {}, "/otlp/v1/logs"],
    ["the full URL", (base: string) => ({ endpoint: `${base}/x/v1/logs` }), {}, "/x/v1/logs"],
  ] as const;
  for (const [what, options, environment, path] of places) {
    it(`go to ${path} for ${what}`, async () => {
      const server = await startLogsServer();
      const { lifecycle } = start(options(server.endpoint), environment);
      emitSome(lifecycle);
      await lifecycle.shutdown();
      expect(server.requests.map((request) => request.path)).toEqual([path]);
    });
  }

  it("go where the environment says: the logs variable as it is, before the general one as a base", async () => {
    const server = await startLogsServer();
    const general = { OTEL_EXPORTER_OTLP_ENDPOINT: `${server.endpoint}/general` };
    const specific = { ...general, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${server.endpoint}/specific` };
    for (const environment of [general, specific]) {
      const { lifecycle } = start({}, environment);
      emitSome(lifecycle);
      await lifecycle.shutdown();
    }
    expect(server.requests.map((request) => request.path)).toEqual(["/general/v1/logs", "/specific"]);
  });

  it("carry headers of code before those of the logs variable before the general ones", async () => {
    const server = await startLogsServer();
    const { lifecycle } = start(
      { endpoint: server.endpoint, headers: { "X-Code": "code" } },
      {
        OTEL_EXPORTER_OTLP_HEADERS: "x-code=general,x-logs=general,x-general=general%20one",
        OTEL_EXPORTER_OTLP_LOGS_HEADERS: "x-code=logs,x-logs=logs",
      },
    );
    emitSome(lifecycle);
    await lifecycle.shutdown();
    expect(server.requests[0]?.headers).toMatchObject({
      "x-code": "code",
      "x-logs": "logs",
      "x-general": "general one",
    });
  });

  it("carry the trace that was active when the event was emitted", async () => {
    const server = await startLogsServer();
    const { lifecycle } = start({ endpoint: server.endpoint });
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const manager = activeContext(
      trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: "b7ad6b7169203331", traceFlags: 1 }),
    );
    context.setGlobalContextManager(manager);
    const child = lifecycle.child();
    context.disable();
    child.starting();
    await lifecycle.shutdown();
    expect(server.requests[0]?.traceIds).toEqual([traceId, undefined]);
  });

  it("are several at a time when a server is slow", async () => {
    let open = 0;
    let most = 0;
    const slow = (response: Parameters<typeof succeed>[0], request: Parameters<typeof succeed>[1]): void => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        succeed(response, request);
      }, 50);
    };
    const server = await startLogsServer(new Array(20).fill(slow));
    const { lifecycle } = start({ endpoint: server.endpoint, delivery: { maxConcurrentExports: 4 } });
    const child = lifecycle.child();
    for (let index = 1; index < 10_000; index += 1) child.heartbeat();
    expect(await lifecycle.shutdown()).toEqual({ complete: true });
    expect(most).toBe(4);
    expect(new Set(server.accepted().map((event) => event.eventId)).size).toBe(10_000);
  });
});

describe("an answer", () => {
  it("of 503 is followed by another try, and the row is told with its end", async () => {
    const server = await startLogsServer([answerWith(503), answerWith(503), answerWith(429, { "retry-after": "0" })]);
    const { lifecycle, diagnostics } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(server.requests).toHaveLength(4);
    expect(server.accepted().map((event) => event.state)).toEqual(STATES);
    expect(lifecycle.counters()).toMatchObject({ exported: 5, dropped: {} });
    expect(diagnostics.map(({ code }) => code)).toEqual(["export_failed", "export_recovered"]);
  });

  it("with a Retry-After is waited for as long as it says", async () => {
    const server = await startLogsServer([answerWith(503, { "retry-after": "1" })]);
    const { lifecycle } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    const startedAt = performance.now();
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    expect(server.requests).toHaveLength(2);
  });

  it("with a Retry-After beyond the patience sends the batch to the fallback", async () => {
    const server = await startLogsServer([answerWith(503, { "retry-after": "60" })]);
    const path = join(temporaryDirectory(), "fallback.jsonl");
    const { lifecycle } = start({ endpoint: server.endpoint, jsonl: { path } });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(readEvents(path).map((event) => event.state)).toEqual(STATES);
    expect(lifecycle.counters()).toMatchObject({ exported: 0, writtenToJsonl: 5, dropped: {} });
  });

  for (const code of [307, 400, 401, 404, 413, 500]) {
    it(`of ${code} is final, counted and told`, async () => {
      const server = await startLogsServer([answerWith(code)]);
      const { lifecycle, diagnostics } = start({ endpoint: server.endpoint });
      emitSome(lifecycle);
      expect(await lifecycle.flush()).toEqual({ complete: true });
      expect(server.requests).toHaveLength(1);
      expect(lifecycle.counters()).toMatchObject({ exported: 0, dropped: { export_refused: 5 } });
      expect(diagnostics.map(({ message }) => message)).toContain(`HTTP ${code}`);
    });
  }

  for (const [what, body] of [
    ["as OTLP writes it", '{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"record 3: sequence"}}'],
    ["with a plain number", '{"partialSuccess":{"rejectedLogRecords":2,"errorMessage":"record 3: sequence"}}'],
  ] as const) {
    it(`of partial success ${what} is counted and told, and nothing is sent again`, async () => {
      const server = await startLogsServer([answerWith(200, { "content-type": "application/json" }, body)]);
      const { lifecycle, diagnostics } = start({ endpoint: server.endpoint });
      emitSome(lifecycle);
      await lifecycle.flush();
      expect(server.requests).toHaveLength(1);
      expect(lifecycle.counters()).toMatchObject({ exported: 3, dropped: { rejected_by_endpoint: 2 } });
      expect(diagnostics).toMatchObject([{ code: "events_rejected", message: expect.stringContaining("record 3") }]);
    });
  }

  for (const [what, answer] of [
    ["an empty 200", answerWith(200)],
    ["a 204", answerWith(204)],
    ["a 200 that makes no sense", answerWith(200, {}, "<html>")],
    ["a rejected count without sense", answerWith(200, {}, '{"partialSuccess":{"rejectedLogRecords":"many"}}')],
  ] as const) {
    it(`of ${what} is a success`, async () => {
      const server = await startLogsServer([answer]);
      const { lifecycle } = start({ endpoint: server.endpoint });
      emitSome(lifecycle);
      await lifecycle.flush();
      expect(lifecycle.counters()).toMatchObject({ exported: 5, dropped: {} });
    });
  }

  it("that breaks off is no answer: the batch comes again, with the same event ids", async () => {
    const server = await startLogsServer([breakOff]);
    const { lifecycle } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(server.requests).toHaveLength(2);
    const [first, second] = server.requests;
    expect(second?.events).toEqual(first?.events);
  });

  it("that never comes ends with the request's time-out, and the batch comes again", async () => {
    const server = await startLogsServer([hang]);
    const { lifecycle, diagnostics } = start({ endpoint: server.endpoint, delivery: { requestTimeoutMs: 100 } });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(server.requests).toHaveLength(2);
    expect(diagnostics[0]?.message).toBe("no answer within 100 ms");
  });
});

it("an outage costs nothing that fits the buffer: sending goes on by itself when the endpoint is back", async () => {
  const gone = await startLogsServer();
  const { port } = gone;
  const { lifecycle } = start({ endpoint: gone.endpoint, delivery: { scheduledDelayMs: 10 } });
  emitSome(lifecycle);
  await lifecycle.flush();
  expect(gone.accepted()).toHaveLength(5);
  await gone.stop();
  emitSome(lifecycle);
  expect(await lifecycle.flush({ timeoutMs: 100 })).toEqual({ complete: false });
  const back = await startLogsServer([], port);
  await back.requestCount(1);
  expect(await lifecycle.flush()).toEqual({ complete: true });
  expect(back.accepted().map((event) => event.state)).toEqual(STATES);
  expect(lifecycle.counters()).toMatchObject({ exported: 10, dropped: {} });
});

describe("what a host brings along", () => {
  it("its own provider gets the records, and delivery is its business", async () => {
    const exporter = new InMemoryLogRecordExporter();
    const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
    const { lifecycle } = start({ loggerProvider: provider, endpoint: "http://127.0.0.1:1" });
    emitSome(lifecycle);
    expect(await lifecycle.shutdown()).toEqual({ complete: true });
    await provider.forceFlush();
    const records = exporter.getFinishedLogRecords();
    expect(records.map((record) => record.attributes["agent_lifecycle.state"])).toEqual(STATES);
    expect(records.at(-1)).toMatchObject({ eventName: "agent_lifecycle.terminal", severityText: "INFO" });
    expect(lifecycle.counters()).toMatchObject({ emitted: 5, handedToHost: 5, exported: 0 });
    await provider.shutdown();
  });

  for (const [name, Exporter] of [
    ["JSON", JsonExporter],
    ["protobuf", ProtobufExporter],
  ] as const) {
    it(`the stock ${name} exporter sends the batches`, async () => {
      const server = await startLogsServer();
      const { lifecycle } = start({ exporter: new Exporter({ url: `${server.endpoint}/v1/logs` }) });
      emitSome(lifecycle);
      expect(await lifecycle.shutdown()).toEqual({ complete: true });
      expect(server.accepted().map((event) => event.state)).toEqual(STATES);
    });
  }
});

/** A manager that says this context is active, whatever runs. */
function activeContext(active: Context): ContextManager {
  const manager: ContextManager = {
    active: () => active,
    with: (_context, run, thisArgument, ...given) => Reflect.apply(run, thisArgument, given),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
