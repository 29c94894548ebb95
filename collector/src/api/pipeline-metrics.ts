import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import type { PipelineTelemetry } from "../runtime/telemetry.ts";
import { PIPELINE_METRICS } from "../telemetry/pipeline-metrics.ts";
import type { Instruments } from "./instruments.ts";

/** The metrics of what happens between a receiver and a commit. */
export function createPipelineMetrics({
  counter,
  gauge,
  histogram,
}: Instruments): PipelineTelemetry & RequestTelemetry {
  const events = counter(PIPELINE_METRICS.events);
  const foreign = counter(PIPELINE_METRICS.foreign);
  const tolerated = counter(PIPELINE_METRICS.tolerated);
  const diagnostics = counter(PIPELINE_METRICS.diagnostics);
  const verdicts = counter(PIPELINE_METRICS.verdicts);
  const requests = counter(PIPELINE_METRICS.requests);
  const accepted = counter(PIPELINE_METRICS.accepted);
  const failed = counter(PIPELINE_METRICS.failed);
  const refused = counter(PIPELINE_METRICS.refused);
  const queue = gauge(PIPELINE_METRICS.queue);
  const commitSeconds = histogram(PIPELINE_METRICS.commitSeconds);
  const commitInputs = histogram(PIPELINE_METRICS.commitInputs);
  return {
    countEvents: (receiver, status, count) => {
      events.inc({ receiver, status }, count);
    },
    countRecords: (receiver, taken, refusedRecords) => {
      if (taken > 0) accepted.inc({ receiver }, taken);
      if (refusedRecords > 0) failed.inc({ receiver }, refusedRecords);
    },
    countForeign: (receiver, records) => foreign.inc({ receiver }, records),
    countTolerated: (receiver, { repeatedKeys, stringTableIndexes }) => {
      if (repeatedKeys > 0) tolerated.inc({ receiver, reason: "repeated_key" }, repeatedKeys);
      if (stringTableIndexes > 0) tolerated.inc({ receiver, reason: "string_table_index" }, stringTableIndexes);
    },
    countDiagnostic: (code) => diagnostics.inc({ code }),
    countRefusal: (receiver, reason) => refused.inc({ receiver, reason }),
    countVerdict: (outcome) => verdicts.inc({ outcome }),
    countRequest: (receiver, outcome) => requests.inc({ receiver, outcome }),
    observeCommit: (durationMs, inputs) => {
      commitSeconds.observe({}, durationMs / 1000);
      commitInputs.observe({}, inputs);
    },
    setQueue: (bytes) => queue.set(bytes),
  };
}
