import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Collector,
  resolveConfiguration,
  type StatedConfiguration,
  startCollector,
} from "@agent-lifecycle/collector";
import { canonicalEvent, type LifecycleEvent } from "@agent-lifecycle/proto";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { MachineClock } from "../runtime/machine-clock.ts";
import { ManualPace } from "../runtime/manual-pace.ts";

const ONE_DAY_MS = 86_400_000;

/** A whole collector with exporters, whose database outlives it. */
export interface ExportingCollector {
  readonly clock: MachineClock;
  readonly pace: ManualPace;
  /** What it logged as an error, with the component that said so. */
  readonly complaints: readonly string[];
  store(...events: readonly LifecycleEvent[]): Promise<void>;
  snapshot(snapshot: object): Promise<void>;
  metrics(): Promise<string>;
  /** Ids of inputs that an exporter has set aside. */
  setAside(exporter: string): readonly number[];
  stop(): Promise<void>;
  /** Starts it again over the same database. */
  start(): Promise<void>;
}

export async function startExporting(
  exporters: NonNullable<StatedConfiguration["exporters"]>,
  stated: StatedConfiguration = {},
): Promise<ExportingCollector> {
  const path = join(temporaryDirectory(), "collector.db");
  const clock = new MachineClock();
  let pace = new ManualPace();
  const complaints: string[] = [];
  const { configuration, problems } = resolveConfiguration({
    storage: { path, synchronous: "normal" },
    receivers: { otlp: { protocols: { http: { endpoint: { port: 0 } }, grpc: null } } },
    api: { endpoint: { port: 0 } },
    // A look is never late by this, so that a test may let any time pass between two.
    lifecycle: { checkIntervalMs: ONE_DAY_MS },
    exporters,
    ...stated,
  });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  let collector: Collector | undefined;

  const start = async (): Promise<void> => {
    pace = new ManualPace();
    collector = await startCollector(configuration, {
      clock,
      log: {
        info: () => {},
        error: (members, message) => void complaints.push(`${message} ${JSON.stringify(members)}`),
      },
      schedule: pace.schedule,
    });
  };
  const stop = async (): Promise<void> => {
    await collector?.shutdown();
    collector = undefined;
  };
  const running = (): Collector => {
    if (collector === undefined) throw new Error("the collector does not run");
    return collector;
  };
  const origin = { receiver: "test", backfill: false, bytes: 0 };
  await start();
  onTestFinished(stop);
  return {
    clock,
    get pace() {
      return pace;
    },
    complaints,
    store: async (...events) => {
      const candidates = events.map((event) => JSON.parse(canonicalEvent(event)) as unknown);
      const { kind } = await running().intake.acceptEvents(candidates, origin);
      if (kind !== "stored") throw new Error(kind);
    },
    snapshot: async (snapshot) => {
      const { kind } = await running().intake.acceptSnapshot(JSON.parse(JSON.stringify(snapshot)), origin);
      if (kind !== "stored") throw new Error(kind);
    },
    metrics: async () => (await fetch(new URL("/metrics", running().apiUrl))).text(),
    setAside: (exporter) =>
      readFileSync(`${path}.exporters/${encodeURIComponent(exporter)}.refused.jsonl`, "utf8")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { readonly inputId: number }).inputId),
    stop,
    start,
  };
}

/** An exporter of one signal, in JSON for tests to read, that comes again quickly. */
export function otlpHttp(url: string, signal: "logs" | "traces" | "metrics") {
  return { endpoint: url, signals: [signal], encoding: "json", initialBackoffMs: 1, maxBackoffMs: 20 } as const;
}
