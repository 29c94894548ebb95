import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, type ContextManager, context, createContextKey, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { describe, expect, it, onTestFinished } from "vitest";
import { startLogsServer, succeed } from "./logs-server.ts";
import { emitSome, STATES, start } from "./running-lifecycle.ts";

/** The key by which OpenTelemetry's instrumentations know that they are to keep quiet. */
const SUPPRESS_TRACING = createContextKey("OpenTelemetry SDK Context Key SUPPRESS_TRACING");

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

  it("are not traced themselves", async () => {
    const contexts = new AsyncLocalStorage<Context>();
    context.setGlobalContextManager({
      ...activeContext(ROOT_CONTEXT),
      active: () => contexts.getStore() ?? ROOT_CONTEXT,
      with: (active, run, thisArgument, ...given) =>
        contexts.run(active, () => Reflect.apply(run, thisArgument, given)),
    });
    onTestFinished(() => context.disable());
    const suppressed: boolean[] = [];
    const { lifecycle } = start({
      exporter: {
        export: (_records, done) => {
          suppressed.push(context.active().getValue(SUPPRESS_TRACING) === true);
          done({ code: 0 });
        },
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve(),
      },
    });
    emitSome(lifecycle);
    await lifecycle.flush();
    expect(suppressed).toEqual([true]);
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
