import { join } from "node:path";
import { createLifecycle, type LifecycleOptions, type SdkDiagnostic } from "@agent-lifecycle/sdk";
import { describe, expect, it } from "vitest";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";

async function problemsOf(
  options: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly (readonly [string | undefined, string])[]> {
  const diagnostics: SdkDiagnostic[] = [];
  const lifecycle = createLifecycle(
    {
      source: "unit",
      exitHooks: false,
      ...options,
      onDiagnostic: (each) => diagnostics.push(each),
    } as LifecycleOptions,
    { environment },
  );
  await lifecycle.shutdown();
  return diagnostics.map(({ path, message }) => [path, message]);
}

describe("configuration", () => {
  it("names every problem at once, each with its path and its rule, and quotes no value", async () => {
    const problems = await problemsOf({
      sourceEpoch: " ",
      endpoint: "ftp://user:hunter2example@host",
      headers: { "bad name": "x" },
      jsonl: "printer",
      heartbeatIntervalMs: 5,
      delivery: { maxBatchSize: 0, maxConcurrentExports: 1.5, exitTimeoutMs: -1, scheduledDelayMs: "soon" },
    });
    expect(problems.map(([path]) => path).sort()).toEqual([
      "delivery.exitTimeoutMs",
      "delivery.maxBatchSize",
      "delivery.maxConcurrentExports",
      "delivery.scheduledDelayMs",
      "endpoint",
      "heartbeatIntervalMs",
      "jsonl",
      "sourceEpoch",
    ]);
    expect(Object.fromEntries(problems)["delivery.maxConcurrentExports"]).toBe(
      "delivery.maxConcurrentExports must be a whole number from 1 to 64",
    );
    expect(JSON.stringify(problems)).not.toContain("hunter2example");
  });

  it("checks what only an endpoint needs when there is one", async () => {
    const problems = await problemsOf({
      endpoint: "http://127.0.0.1:1",
      headers: { "bad name": "x", good: "line\nbreak" },
      protocol: "grpc",
      delivery: { requestTimeoutMs: 0 },
    });
    expect(problems.map(([path]) => path).sort()).toEqual([
      "delivery.requestTimeoutMs",
      "headers",
      "headers",
      "protocol",
    ]);
  });

  it("names the variable when the environment is wrong", async () => {
    const problems = await problemsOf(
      {},
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
        OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
        OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: "brotli",
        OTEL_EXPORTER_OTLP_TIMEOUT: "soon",
        OTEL_BLRP_MAX_QUEUE_SIZE: "-3",
        OTEL_BLRP_SCHEDULE_DELAY: "",
      },
    );
    expect(problems.map(([path]) => path).sort()).toEqual([
      "OTEL_BLRP_MAX_QUEUE_SIZE",
      "OTEL_EXPORTER_OTLP_LOGS_COMPRESSION",
      "OTEL_EXPORTER_OTLP_PROTOCOL",
      "OTEL_EXPORTER_OTLP_TIMEOUT",
    ]);
  });

  it("does nothing when OpenTelemetry is switched off", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const lifecycle = createLifecycle(
      { source: "unit", jsonl: { path } },
      { environment: { OTEL_SDK_DISABLED: "True" } },
    );
    lifecycle.child().starting();
    await lifecycle.shutdown();
    expect(readEvents(path)).toEqual([]);
    expect(lifecycle.counters()).toMatchObject({ emitted: 2, suppressed: 2, dropped: {}, diagnostics: {} });
  });

  it("writes JSONL alone when that is all that is configured, also by the environment", async () => {
    const path = join(temporaryDirectory(), "deep", "down", "events.jsonl");
    const lifecycle = createLifecycle(
      { source: "unit", exitHooks: false },
      { environment: { AGENT_LIFECYCLE_JSONL: path } },
    );
    lifecycle.child().starting();
    await lifecycle.shutdown();
    expect(readEvents(path).map((event) => event.state)).toEqual(["created", "starting"]);
  });

  it("does not fall back to the default endpoint when the stated one is unusable", async () => {
    const lifecycle = createLifecycle(
      { source: "unit", endpoint: "no url", exitHooks: false },
      { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" } },
    );
    lifecycle.child();
    expect(lifecycle.counters().suppressed).toBe(1);
    await lifecycle.shutdown();
  });

  it("trims and redacts the source and makes an epoch of its own", async () => {
    const lifecycle = createLifecycle({ source: "  ci  ", jsonl: "stderr", exitHooks: false }, { environment: {} });
    expect(lifecycle.source).toBe("ci");
    expect(lifecycle.sourceEpoch).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    await lifecycle.shutdown();
  });
});
