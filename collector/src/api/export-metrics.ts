import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import { EXPORT_METRICS } from "../telemetry/pipeline-metrics.ts";
import type { Instruments } from "./instruments.ts";

/** The metrics of exporters. The label is an exporter's id: there are as many as the configuration names. */
export function createExportMetrics({ counter, gauge }: Instruments): ExportTelemetry {
  const inputs = counter(EXPORT_METRICS.inputs);
  const retries = counter(EXPORT_METRICS.retries);
  const records = counter(EXPORT_METRICS.records);
  const lag = gauge(EXPORT_METRICS.lag);
  return {
    countExported: (exporter, count) => inputs.inc({ exporter, outcome: "delivered" }, count),
    countRefused: (exporter, count) => inputs.inc({ exporter, outcome: "refused" }, count),
    countMissed: (exporter, count) => inputs.inc({ exporter, outcome: "missed" }, count),
    countRetry: (exporter) => retries.inc({ exporter }),
    countRecords: (exporter, outcome, count) => records.inc({ exporter, outcome }, count),
    setLag: (exporter, count) => lag.set({ exporter }, count),
  };
}
