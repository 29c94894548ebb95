import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Collector,
  resolveConfiguration,
  type StatedConfiguration,
  startCollector,
} from "@agent-lifecycle/collector";
import { createApiServer, createMetrics, type HttpServer } from "@agent-lifecycle/collector/parts";
import { canonicalEvent, formatTimestamp, type LifecycleEvent } from "@agent-lifecycle/proto";
import { onTestFinished } from "vitest";
import { START_MS } from "../../kit/start-time.ts";

/** A clock that stands still: what a test shows does not depend on how long it took. */
const STANDING_CLOCK = { wallNow: () => START_MS, monotonicNow: () => 0 };

export const NOW: string = formatTimestamp(START_MS);

/** A whole collector with a database of its own, on free ports; gone when the test is. */
export async function startTestCollector(
  stated: StatedConfiguration = {},
  clock: NonNullable<Parameters<typeof startCollector>[1]["clock"]> = STANDING_CLOCK,
): Promise<Collector> {
  const folder = await mkdtemp(join(tmpdir(), "agent-lifecycle-"));
  const faults: unknown[] = [];
  const log = { info: () => {}, error: (members: object) => void faults.push(members) };
  const endpoint = { port: 0 };
  const { configuration } = resolveConfiguration({
    storage: { path: join(folder, "test.db") },
    receivers: { otlp: { protocols: { http: { endpoint }, grpc: null } } },
    api: { endpoint },
    ...stated,
  });
  const collector = await startCollector(configuration, { log, clock });
  onTestFinished(async () => {
    await collector.shutdown();
    await rm(folder, { recursive: true });
    if (faults.length > 0) throw new Error(JSON.stringify(faults));
  });
  return collector;
}

export type ApiServerOptions = Partial<Parameters<typeof createApiServer>[1]>;
export type ApiServerDependencies = Partial<Parameters<typeof createApiServer>[0]>;

/** A further API server over a running collector, with settings of its own. */
export async function startApi(
  { intake, reader, updates }: Collector,
  options: ApiServerOptions = {},
  dependencies: ApiServerDependencies = {},
): Promise<HttpServer> {
  const metrics = createMetrics();
  const server = await createApiServer(
    {
      intake,
      reader,
      updates,
      metrics,
      telemetry: metrics.telemetry,
      clock: STANDING_CLOCK,
      readiness: () => ({ ready: true }),
      ...dependencies,
    },
    {
      port: 0,
      onError: (error) => {
        throw error;
      },
      ...options,
    },
  );
  await server.start();
  onTestFinished(() => server.shutdown());
  return server;
}

/** Hands events to the collector and waits until they are durable. @throws when they are refused. */
export async function store(collector: Collector, events: readonly LifecycleEvent[]): Promise<void> {
  const candidates = events.map((event) => JSON.parse(canonicalEvent(event)) as unknown);
  const result = await collector.intake.acceptEvents(candidates, { receiver: "test", backfill: false, bytes: 0 });
  if (result.kind !== "stored") throw new Error(result.kind);
}

export async function getJson<Body>(url: string): Promise<Body> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
}
