import { Counter, Gauge } from "prom-client";
import type { MetricRegisters } from "./metric-registers.ts";

const MICROSECONDS = 1_000_000;

/** The metrics of the process, under the names that an OpenTelemetry Collector has for them. Returns what reads them anew. */
export function createProcessMetrics(registers: MetricRegisters): () => void {
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const memory = new Gauge({
    name: "otelcol_process_memory_rss_bytes",
    help: "Resident memory of the collector process.",
    registers,
  });
  const uptime = counter("otelcol_process_uptime_seconds_total", "Time since the collector process started.");
  const processor = counter("otelcol_process_cpu_seconds_total", "Processor time, user and system, of the process.");
  return () => {
    memory.set(process.memoryUsage.rss());
    uptime.reset();
    uptime.inc(process.uptime());
    const { user, system } = process.cpuUsage();
    processor.reset();
    processor.inc((user + system) / MICROSECONDS);
  };
}
