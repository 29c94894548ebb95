import { STATES } from "@agent-lifecycle/proto";
import { Counter, Gauge, Histogram, type OpenMetricsContentType, Registry } from "prom-client";
import type { AdmissionTelemetry } from "../runtime/admission-control.ts";
import type { Authority } from "../runtime/authority.ts";
import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import type { PipelineTelemetry, RetentionTelemetry } from "../runtime/telemetry.ts";
import { createAdmissionMetrics } from "./admission-metrics.ts";
import { type AuthorityMetrics, createAuthorityMetrics } from "./authority-metrics.ts";
import { createExportMetrics } from "./export-metrics.ts";
import type { MetricRegisters } from "./metric-registers.ts";
import { createProcessMetrics } from "./process-metrics.ts";
import { createRetentionMetrics } from "./retention-metrics.ts";

/** The collector's own metrics. Labels are closed sets: no child, source or epoch is ever one. */
export interface CollectorMetrics {
  readonly telemetry: PipelineTelemetry & RequestTelemetry & RetentionTelemetry & AdmissionTelemetry;
  readonly exportTelemetry: ExportTelemetry;
  readonly countAsking: AuthorityMetrics["countAsking"];
  /** The exposition in the format that suits the `Accept` header: OpenMetrics 1.0, or else Prometheus text 0.0.4. */
  render(
    accept: string | undefined,
    reader: ProjectionReader,
    authorities?: readonly Authority[],
  ): Promise<MetricsExposition>;
}

export interface MetricsExposition {
  readonly contentType: string;
  readonly text: string;
}

const COMMIT_SECONDS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const COMMIT_INPUTS = [1, 10, 100, 1_000, 10_000, 100_000];

/** Creates the metrics with a registry of their own: an embedding host's stay apart. */
export function createMetrics(): CollectorMetrics {
  const prometheus = new Registry();
  const openMetrics = new Registry<OpenMetricsContentType>();
  openMetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers: MetricRegisters = [prometheus, openMetrics];
  const setProjection = createProjectionGauges(registers);
  const setProcess = createProcessMetrics(registers);
  const authorityMetrics = createAuthorityMetrics(registers);
  const telemetry = {
    ...createCounters(registers),
    ...createRetentionMetrics(registers),
    ...createAdmissionMetrics(registers),
  };
  return {
    telemetry,
    exportTelemetry: createExportMetrics(registers),
    countAsking: authorityMetrics.countAsking,
    render: async (accept, reader, authorities = []) => {
      setProjection(reader);
      authorityMetrics.set(authorities);
      setProcess();
      const registry = accept?.includes("application/openmetrics-text") ? openMetrics : prometheus;
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function createProjectionGauges(registers: MetricRegisters): (reader: ProjectionReader) => void {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const children = new Gauge({
    name: "agent_lifecycle_children",
    help: "Children by state.",
    labelNames: ["state"],
    registers,
  });
  const stale = gauge("agent_lifecycle_children_stale", "Live children marked stale.");
  const provisional = gauge(
    "agent_lifecycle_children_provisional",
    "Children whose record rests on something missing.",
  );
  const unknown = gauge("agent_lifecycle_children_state_unknown", "Children heard of without any state.");
  const position = gauge("agent_lifecycle_input_log_position", "Id of the newest stored input.");
  return (reader) => {
    const summary = reader.summary();
    for (const state of STATES) children.set({ state }, summary.byState[state]);
    stale.set(summary.stale);
    provisional.set(summary.provisional);
    unknown.set(summary.stateUnknown);
    position.set(reader.lastInputId());
  };
}

function createCounters(registers: MetricRegisters): PipelineTelemetry & RequestTelemetry {
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers });
  const events = counter("agent_lifecycle_events_total", "Events by what became of them.", ["receiver", "status"]);
  const foreign = counter("agent_lifecycle_foreign_records_total", "Log records that are no lifecycle events.", [
    "receiver",
  ]);
  const tolerated = counter(
    "agent_lifecycle_tolerated_attributes_total",
    "Attributes of lifecycle records that were passed over: an earlier value of a repeated key, an index of no table.",
    ["receiver", "reason"],
  );
  const diagnostics = counter("agent_lifecycle_diagnostics_total", "Objections by code.", ["code"]);
  const verdicts = counter("agent_lifecycle_verdicts_total", "The collector's own verdicts.", ["outcome"]);
  const requests = counter("otelcol_receiver_requests_total", "Requests by how they ended.", ["receiver", "outcome"]);
  const accepted = counter(
    "otelcol_receiver_accepted_log_records_total",
    "Lifecycle records taken: stored, or known already.",
    ["receiver"],
  );
  const failed = counter("otelcol_receiver_failed_log_records_total", "Lifecycle records that break the contract.", [
    "receiver",
  ]);
  const refused = counter("otelcol_receiver_refused_requests_total", "Requests of which nothing was stored.", [
    "receiver",
    "reason",
  ]);
  const queue = new Gauge({ name: "agent_lifecycle_queue_bytes", help: "Received and not yet durable.", registers });
  const commitSeconds = new Histogram({
    name: "agent_lifecycle_commit_duration_seconds",
    help: "Time from the first fold of a commit until it was durable.",
    buckets: COMMIT_SECONDS,
    registers,
  });
  const commitInputs = new Histogram({
    name: "agent_lifecycle_commit_inputs",
    help: "Inputs made durable by one commit.",
    buckets: COMMIT_INPUTS,
    registers,
  });
  return {
    countEvents: (receiver, status, count) => {
      events.inc({ receiver, status }, count);
    },
    countRecords: (receiver, taken, refused) => {
      if (taken > 0) accepted.inc({ receiver }, taken);
      if (refused > 0) failed.inc({ receiver }, refused);
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
      commitSeconds.observe(durationMs / 1000);
      commitInputs.observe(inputs);
    },
    setQueue: (bytes) => queue.set(bytes),
  };
}
