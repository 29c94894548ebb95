import type { RetentionTelemetry } from "../runtime/telemetry.ts";
import { RETENTION_METRICS } from "../telemetry/pipeline-metrics.ts";
import type { Instruments } from "./instruments.ts";

/** The metrics of retention. */
export function createRetentionMetrics({ counter, gauge }: Instruments): RetentionTelemetry {
  const removedInputs = counter(RETENTION_METRICS.removedInputs);
  const removedChildren = counter(RETENTION_METRICS.removedChildren);
  const beginning = gauge(RETENTION_METRICS.beginning);
  const usedBytes = gauge(RETENTION_METRICS.usedBytes);
  const overLimit = gauge(RETENTION_METRICS.overLimit);
  const halted = gauge(RETENTION_METRICS.halted);
  return {
    countRetention: (inputs, children, removedInputId) => {
      removedInputs.inc({}, inputs);
      removedChildren.inc({}, children);
      beginning.set(removedInputId);
    },
    setStorage: (state) => {
      usedBytes.set(state.usedBytes);
      overLimit.set(state.isOverLimit ? 1 : 0);
      halted.set(state.isHalted ? 1 : 0);
    },
  };
}
