import { PROCESS_METRICS } from "../telemetry/pipeline-metrics.ts";
import type { Instruments } from "./instruments.ts";

const MICROSECONDS = 1_000_000;

/** The metrics of the process, under the names that an OpenTelemetry Collector has for them. Returns what reads them anew. */
export function createProcessMetrics({ counter, gauge }: Instruments): () => void {
  const memory = gauge(PROCESS_METRICS.memory);
  const uptime = counter(PROCESS_METRICS.uptime);
  const processor = counter(PROCESS_METRICS.processor);
  return () => {
    memory.set(process.memoryUsage.rss());
    uptime.reset();
    uptime.inc({}, process.uptime());
    const { user, system } = process.cpuUsage();
    processor.reset();
    processor.inc({}, (user + system) / MICROSECONDS);
  };
}
