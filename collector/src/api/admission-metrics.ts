import type { AdmissionTelemetry } from "../runtime/admission-control.ts";
import { PIPELINE_METRICS } from "../telemetry/pipeline-metrics.ts";
import type { Instruments } from "./instruments.ts";

/** The metrics of what decides whether a request is let in. */
export function createAdmissionMetrics({ counter }: Instruments): AdmissionTelemetry {
  const refusals = counter(PIPELINE_METRICS.admissionRefusals);
  return { countAdmissionRefusal: (reason) => refusals.inc({ reason }) };
}
