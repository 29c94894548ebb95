import type { Component } from "../runtime/component.ts";
import type { ComponentLog } from "../runtime/component-context.ts";
import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import type { MetricSamples } from "../runtime/metric-samples.ts";
import type { Schedule } from "../runtime/schedule.ts";
import type { OtlpEncoder } from "./otlp-encoding.ts";
import type { RequestSender } from "./send-outcome.ts";

export interface MetricsPushOptions {
  /** Names it in counters. */
  readonly id: string;
  readonly read: () => Promise<MetricSamples>;
  readonly encoder: Pick<OtlpEncoder, "metrics">;
  readonly sender: RequestSender;
  readonly intervalMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly telemetry: ExportTelemetry;
  readonly log: ComponentLog;
  readonly schedule: Schedule;
  /** How long the last sending may take. Milliseconds. */
  readonly shutdownGraceMs: number;
}

/**
 * Sends the metrics from time to time, and once more at the end. They are sums since the start: what could not be sent is
 * in the next sending, and nothing is kept for a destination that is away.
 */
export function createMetricsPush(options: MetricsPushOptions): Component {
  const { id, read, encoder, sender, intervalMs, now, telemetry, log, schedule, shutdownGraceMs } = options;
  const cut = new AbortController();
  let startedAt: number | undefined;
  let cancel: () => void = () => {};
  let sending: Promise<void> = Promise.resolve();
  let stopping: Promise<void> | undefined;
  let isFailing = false;

  async function push(): Promise<void> {
    const samples = await read();
    const points = samples.metrics.reduce((sum, metric) => sum + metric.points.length, 0);
    const outcome = await sender.send(encoder.metrics(samples, startedAt ?? now(), now()), cut.signal);
    if (outcome.kind === "taken") {
      telemetry.countRecords(id, "sent", points - Math.min(points, outcome.rejected));
      if (outcome.rejected > 0) telemetry.countRecords(id, "rejected", outcome.rejected);
      if (isFailing) log.info({}, "the destination takes metrics again");
      isFailing = false;
      return;
    }
    // Prometheus refuses what is older than what it has, and takes the next.
    if (outcome.kind === "refused") telemetry.countRecords(id, "set_aside", points);
    else telemetry.countRetry(id);
    if (!isFailing) log.error({ reason: outcome.reason }, "metrics cannot be sent now");
    isFailing = true;
  }

  function pushOnce(): Promise<void> {
    return push().catch((error: unknown) => log.error({ error: String(error) }, "metrics cannot be read"));
  }

  function plan(): void {
    cancel = schedule(() => {
      sending = pushOnce().then(() => {
        if (stopping === undefined) plan();
      });
    }, intervalMs);
  }

  return {
    start: async () => {
      if (stopping !== undefined) return;
      startedAt = now();
      plan();
    },
    shutdown: () => {
      stopping ??= (async () => {
        cancel();
        const cancelCut = schedule(() => cut.abort(), shutdownGraceMs);
        await sending;
        if (startedAt !== undefined) await pushOnce();
        cancelCut();
        await sender.close();
      })();
      return stopping;
    },
  };
}
