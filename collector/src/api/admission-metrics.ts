import { Counter } from "prom-client";
import type { AdmissionTelemetry } from "../runtime/admission-control.ts";
import type { MetricRegisters } from "./metric-registers.ts";

/** The metrics of what decides whether a request is let in. */
export function createAdmissionMetrics(registers: MetricRegisters): AdmissionTelemetry {
  const refusals = new Counter({
    name: "agent_lifecycle_admission_refusals_total",
    help: "Requests refused before anything of them was read, by what was too much.",
    labelNames: ["reason"],
    registers,
  });
  return { countAdmissionRefusal: (reason) => refusals.inc({ reason }) };
}
