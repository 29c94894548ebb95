/** What the collector tells of its own work. What an OpenTelemetry Collector counts too has its name. */
export const PIPELINE_METRICS = {
  events: {
    name: "agent_lifecycle_events_total",
    type: "counter",
    unit: "{event}",
    description: "Events by what became of them.",
    labels: ["receiver", "status"],
  },
  foreign: {
    name: "agent_lifecycle_foreign_records_total",
    type: "counter",
    unit: "{record}",
    description: "Log records that are no lifecycle events.",
    labels: ["receiver"],
  },
  tolerated: {
    name: "agent_lifecycle_tolerated_attributes_total",
    type: "counter",
    unit: "{attribute}",
    description:
      "Attributes of lifecycle records that were passed over: an earlier value of a repeated key, an index of no table.",
    labels: ["receiver", "reason"],
  },
  diagnostics: {
    name: "agent_lifecycle_diagnostics_total",
    type: "counter",
    unit: "{diagnostic}",
    description: "Objections by code.",
    labels: ["code"],
  },
  verdicts: {
    name: "agent_lifecycle_verdicts_total",
    type: "counter",
    unit: "{verdict}",
    description: "The collector's own verdicts.",
    labels: ["outcome"],
  },
  requests: {
    name: "otelcol_receiver_requests_total",
    type: "counter",
    unit: "{request}",
    description: "Requests by how they ended.",
    labels: ["receiver", "outcome"],
  },
  accepted: {
    name: "otelcol_receiver_accepted_log_records_total",
    type: "counter",
    unit: "{record}",
    description: "Lifecycle records taken: stored, or known already.",
    labels: ["receiver"],
  },
  failed: {
    name: "otelcol_receiver_failed_log_records_total",
    type: "counter",
    unit: "{record}",
    description: "Lifecycle records that break the contract.",
    labels: ["receiver"],
  },
  refused: {
    name: "otelcol_receiver_refused_requests_total",
    type: "counter",
    unit: "{request}",
    description: "Requests of which nothing was stored.",
    labels: ["receiver", "reason"],
  },
  admissionRefusals: {
    name: "agent_lifecycle_admission_refusals_total",
    type: "counter",
    unit: "{request}",
    description: "Requests refused before anything of them was read, by what was too much.",
    labels: ["reason"],
  },
  queue: {
    name: "agent_lifecycle_queue_bytes",
    type: "gauge",
    unit: "By",
    description: "Received and not yet durable.",
    labels: [],
  },
  commitSeconds: {
    name: "agent_lifecycle_commit_duration_seconds",
    type: "histogram",
    unit: "s",
    description: "Time from the first fold of a commit until it was durable.",
    labels: [],
    buckets: [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  commitInputs: {
    name: "agent_lifecycle_commit_inputs",
    type: "histogram",
    unit: "{input}",
    description: "Inputs made durable by one commit.",
    labels: [],
    buckets: [1, 10, 100, 1_000, 10_000, 100_000],
  },
  position: {
    name: "agent_lifecycle_input_log_position",
    type: "gauge",
    unit: "{input}",
    description: "Id of the newest stored input.",
    labels: [],
  },
} as const;

export const PROCESS_METRICS = {
  memory: {
    name: "otelcol_process_memory_rss_bytes",
    type: "gauge",
    unit: "By",
    description: "Resident memory of the collector process.",
    labels: [],
  },
  uptime: {
    name: "otelcol_process_uptime_seconds_total",
    type: "counter",
    unit: "s",
    description: "Time since the collector process started.",
    labels: [],
  },
  processor: {
    name: "otelcol_process_cpu_seconds_total",
    type: "counter",
    unit: "s",
    description: "Processor time, user and system, of the process.",
    labels: [],
  },
} as const;

export const RETENTION_METRICS = {
  removedInputs: {
    name: "agent_lifecycle_retention_removed_inputs_total",
    type: "counter",
    unit: "{input}",
    description: "Inputs that retention removed.",
    labels: [],
  },
  removedChildren: {
    name: "agent_lifecycle_retention_removed_children_total",
    type: "counter",
    unit: "{child}",
    description: "Ended children that retention let go.",
    labels: [],
  },
  beginning: {
    name: "agent_lifecycle_input_log_removed_position",
    type: "gauge",
    unit: "{input}",
    description: "Id of the newest input that retention removed.",
    labels: [],
  },
  usedBytes: {
    name: "agent_lifecycle_storage_used_bytes",
    type: "gauge",
    unit: "By",
    description: "Stored data, without space that is free for reuse.",
    labels: [],
  },
  overLimit: {
    name: "agent_lifecycle_storage_over_limit",
    type: "gauge",
    unit: "{limit}",
    description: "1 while the stored data exceeds its limit and retention may remove no more.",
    labels: [],
  },
  halted: {
    name: "agent_lifecycle_retention_halted",
    type: "gauge",
    unit: "{retention}",
    description: "1 once retention found the stored projection to differ from its inputs.",
    labels: [],
  },
} as const;

export const AUTHORITY_METRICS = {
  answers: {
    name: "agent_lifecycle_authority_answers_total",
    type: "counter",
    unit: "{answer}",
    description: "Questions to authorities, and snapshots they pushed, by how they ended.",
    labels: ["authority", "outcome"],
  },
  answerSeconds: {
    name: "agent_lifecycle_authority_answer_duration_seconds",
    type: "histogram",
    unit: "s",
    description: "Time from a question until its answer was durable, or it came to nothing.",
    labels: ["authority"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  failuresInARow: {
    name: "agent_lifecycle_authority_failures_in_a_row",
    type: "gauge",
    unit: "{failure}",
    description: "Questions that came to nothing since the last answer.",
    labels: ["authority"],
  },
  lastAnswer: {
    name: "agent_lifecycle_authority_last_answer_timestamp_seconds",
    type: "gauge",
    unit: "s",
    description: "When the last answer was stored, in seconds since the epoch; not there before the first one.",
    labels: ["authority"],
  },
} as const;

export const EXPORT_METRICS = {
  inputs: {
    name: "agent_lifecycle_export_inputs_total",
    type: "counter",
    unit: "{input}",
    description:
      "Inputs by what became of them: delivered, refused by the destination, missed because retention removed them.",
    labels: ["exporter", "outcome"],
  },
  retries: {
    name: "agent_lifecycle_export_retries_total",
    type: "counter",
    unit: "{attempt}",
    description: "Attempts that failed and are made again.",
    labels: ["exporter"],
  },
  lag: {
    name: "agent_lifecycle_export_lag_inputs",
    type: "gauge",
    unit: "{input}",
    description: "Stored and not yet exported.",
    labels: ["exporter"],
  },
  records: {
    name: "agent_lifecycle_export_records_total",
    type: "counter",
    unit: "{record}",
    description:
      "Records by what became of them: `sent`, `rejected` by the destination out of a request that it took, or `set_aside` because it refuses them for good.",
    labels: ["exporter", "outcome"],
  },
} as const;
