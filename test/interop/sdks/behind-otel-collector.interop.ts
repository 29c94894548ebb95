import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildView } from "@agent-lifecycle/proto";
import { beforeAll, describe, expect, test } from "vitest";
import { openChildStream } from "../../kit/child-stream.ts";
import { closedPort } from "../../kit/closed-port.ts";
import { type CollectorProcess, startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { makeEvent } from "../../kit/events.ts";
import { startProgram } from "../../kit/program.ts";
import { submit } from "../../kit/submit.ts";
import { buildOtelCollector, type OtelCollectorBuild } from "../../programs/otel-collector/build.ts";

const CHILDREN = 40;
const LIFE = ["created", "starting", "running", "waiting", "running", "completed"] as const;

/** As operators run it: batches, and a queue on disk that tries again. */
function configuration(port: number, exporter: object, folder: string): string {
  return JSON.stringify({
    extensions: { file_storage: { directory: folder } },
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    processors: { memory_limiter: { check_interval: "1s", limit_mib: 512 }, batch: { timeout: "50ms" } },
    exporters: exporter,
    service: {
      extensions: ["file_storage"],
      pipelines: {
        logs: { receivers: ["otlp"], processors: ["memory_limiter", "batch"], exporters: Object.keys(exporter) },
      },
      telemetry: { metrics: { level: "none" } },
    },
  });
}

const DELIVERY = {
  sending_queue: { enabled: true, storage: "file_storage" },
  retry_on_failure: { enabled: true, initial_interval: "200ms", max_interval: "500ms" },
} as const;

const TRANSPORTS = {
  "OTLP/HTTP": ({ ingestUrl }: CollectorProcess) => ({ otlp_http: { endpoint: ingestUrl, ...DELIVERY } }),
  "OTLP/gRPC": ({ grpcUrl }: CollectorProcess) => ({
    otlp: { endpoint: new URL(grpcUrl).host, tls: { insecure: true }, ...DELIVERY },
  }),
} as const;

describe("behind an OpenTelemetry Collector", () => {
  let build: OtelCollectorBuild;
  beforeAll(async () => {
    build = await buildOtelCollector();
    if (build.kind === "unavailable") console.warn(`OpenTelemetry Collector: not run: ${build.reason}`);
  });

  for (const [transport, exporterFor] of Object.entries(TRANSPORTS)) {
    test(`every child is as it was, over ${transport}, also when ours was gone for a while`, {
      timeout: 60_000,
    }, async ({ skip }) => {
      // What was not run has not passed.
      if (build.kind === "unavailable") return skip(`not run: ${build.reason}`);
      const folder = temporaryDirectory();
      const database = join(folder, "collector.db");
      const ports = [await closedPort(), await closedPort(), await closedPort()] as const;
      const fixed = ["--ingest-port", String(ports[0]), "--grpc-port", String(ports[1])];
      const first = await startCollector(database, fixed);
      const file = join(folder, "otel-collector.yaml");
      writeFileSync(file, configuration(ports[2], exporterFor(first), folder));
      const pipeline = startProgram(build.path, ["--config", `file:${file}`]);
      const pipelineUrl = `http://127.0.0.1:${ports[2]}`;
      await ready(pipelineUrl);
      const send = async (step: number): Promise<void> => {
        const events = Array.from({ length: CHILDREN }, (_, index) =>
          makeEvent({ childId: `child-${index}`, sequence: step, state: LIFE[step] ?? "running", at: step * 1_000 }),
        );
        expect(await submit(pipelineUrl, events, step % 2 === 0 ? "protobuf" : "json")).toEqual({ rejected: 0 });
      };
      await send(0);
      await send(1);
      await first.endBy("SIGKILL");
      await send(2);
      await send(3);
      const second = await startCollector(database, fixed);
      const stream = await openChildStream(second.apiUrl);
      await send(4);
      await send(5);
      const isDone = new Set<string>();
      await stream.until(({ childId, state, gaps }) => {
        if (state === "completed" && gaps.length === 0) isDone.add(childId);
        return isDone.size === CHILDREN;
      });
      for (let index = 0; index < CHILDREN; index += 1) {
        expect(await second.get<ChildView>(`/api/v1/children/runner/child-${index}`)).toMatchObject({
          state: "completed",
          history: "complete",
          provisional: false,
          highestSequence: LIFE.length - 1,
          gaps: [],
        });
      }
      pipeline.process.kill("SIGTERM");
      await pipeline.end;
      await second.endBy("SIGTERM");
    });
  }
});

/** Resolves when it answers; it cannot be told to say when. */
async function ready(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/v1/logs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
