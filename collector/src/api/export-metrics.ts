import { Counter, Gauge } from "prom-client";
import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import type { MetricRegisters } from "./metric-registers.ts";

/** The metrics of exporters. The label is an exporter's id: there are as many as the configuration names. */
export function createExportMetrics(registers: MetricRegisters): ExportTelemetry {
  const inputs = new Counter({
    name: "agent_lifecycle_export_inputs_total",
    help: "Inputs by what became of them: delivered, refused by the destination, missed because retention removed them.",
    labelNames: ["exporter", "outcome"],
    registers,
  });
  const retries = new Counter({
    name: "agent_lifecycle_export_retries_total",
    help: "Attempts that failed and are made again.",
    labelNames: ["exporter"],
    registers,
  });
  const lag = new Gauge({
    name: "agent_lifecycle_export_lag_inputs",
    help: "Stored and not yet exported.",
    labelNames: ["exporter"],
    registers,
  });
  return {
    countExported: (exporter, count) => inputs.inc({ exporter, outcome: "delivered" }, count),
    countRefused: (exporter, count) => inputs.inc({ exporter, outcome: "refused" }, count),
    countMissed: (exporter, count) => inputs.inc({ exporter, outcome: "missed" }, count),
    countRetry: (exporter) => retries.inc({ exporter }),
    setLag: (exporter, count) => lag.set({ exporter }, count),
  };
}
