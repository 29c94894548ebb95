import { Counter, Gauge } from "prom-client";
import type { RetentionTelemetry } from "../runtime/telemetry.ts";
import type { MetricRegisters } from "./metric-registers.ts";

/** The metrics of retention. */
export function createRetentionMetrics(registers: MetricRegisters): RetentionTelemetry {
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const removedInputs = counter("agent_lifecycle_retention_removed_inputs_total", "Inputs that retention removed.");
  const removedChildren = counter(
    "agent_lifecycle_retention_removed_children_total",
    "Ended children that retention let go.",
  );
  const beginning = gauge(
    "agent_lifecycle_input_log_removed_position",
    "Id of the newest input that retention removed.",
  );
  const usedBytes = gauge("agent_lifecycle_storage_used_bytes", "Stored data, without space that is free for reuse.");
  const overLimit = gauge(
    "agent_lifecycle_storage_over_limit",
    "1 while the stored data exceeds its limit and retention may remove no more.",
  );
  const halted = gauge(
    "agent_lifecycle_retention_halted",
    "1 once retention found the stored projection to differ from its inputs.",
  );
  return {
    countRetention: (inputs, children, removedInputId) => {
      removedInputs.inc(inputs);
      removedChildren.inc(children);
      beginning.set(removedInputId);
    },
    setStorage: (state) => {
      usedBytes.set(state.usedBytes);
      overLimit.set(state.isOverLimit ? 1 : 0);
      halted.set(state.isHalted ? 1 : 0);
    },
  };
}
