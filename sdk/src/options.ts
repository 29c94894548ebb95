import type { LoggerProvider, MeterProvider } from "@opentelemetry/api";
import type { LogRecordExporter } from "@opentelemetry/sdk-logs";
import type { DiagnosticListener } from "./diagnostics.ts";

/**
 * Where event lines go: the process's own streams, a file that is appended to (made with mode 0600), or a journal that
 * processes write together, each line numbered and none lost between them.
 */
export type JsonlDestination = "stdout" | "stderr" | { readonly path: string } | { readonly journal: string };

export type OtlpProtocol = "http/json" | "http/protobuf";

/** What `createLifecycle` takes. Everything but `source` has a default; code wins over environment variables. */
export interface LifecycleOptions {
  /** Who observes the children: 1–256 characters. It is part of every child's identity. */
  readonly source: string;
  /** Names this run of the source. Default: a fresh UUID, which is right for nearly everybody. */
  readonly sourceEpoch?: string;
  /**
   * OTLP/HTTP endpoint: a base URL (`http://127.0.0.1:4318`) or the full URL of the logs path (`…/v1/logs`).
   * Default: `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT`, `OTEL_EXPORTER_OTLP_ENDPOINT`; with none of them and no `jsonl`,
   * `http://localhost:4318`.
   */
  readonly endpoint?: string;
  /** Extra request headers. Default: `OTEL_EXPORTER_OTLP_LOGS_HEADERS`, `OTEL_EXPORTER_OTLP_HEADERS`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: `OTEL_EXPORTER_OTLP_LOGS_PROTOCOL`, `OTEL_EXPORTER_OTLP_PROTOCOL`, else `http/json`. */
  readonly protocol?: OtlpProtocol;
  /** The host's own provider: records are emitted into it, and delivery is the host's business alone. */
  readonly loggerProvider?: LoggerProvider;
  /** Any OpenTelemetry exporter in place of the built-in OTLP/HTTP one. What it reports as failed goes to `jsonl`. */
  readonly exporter?: LogRecordExporter;
  /**
   * Without an endpoint: the only destination. With one: where events go that could not be delivered.
   * Default: `AGENT_LIFECYCLE_JSONL` (`stdout`, `stderr` or a path), `AGENT_LIFECYCLE_JOURNAL` (the path of a journal),
   * else none. `false` ignores the variables.
   */
  readonly jsonl?: JsonlDestination | false;
  /**
   * Where events lie while the endpoint is away: they are kept in order with their times and trace, sent when it is back,
   * and what a process leaves behind is sent by the next one with the same spool and endpoint. `true`: in
   * `$XDG_STATE_HOME/agent-lifecycle/spool` (`~/.local/state`, on Windows `%LOCALAPPDATA%`). Default:
   * `AGENT_LIFECYCLE_SPOOL` (`true` or a directory), else none.
   */
  readonly spool?: boolean | SpoolOptions;
  /** Time between automatic heartbeats of a child, milliseconds. Default 30,000; 0 turns them off; at least 10. */
  readonly heartbeatIntervalMs?: number;
  /** Whether to flush at the process's end (`beforeExit`, `exit`, SIGTERM, SIGINT). Default true. */
  readonly exitHooks?: boolean;
  readonly delivery?: DeliveryOptions;
  /** Where `counters()` are exported to as metrics. Default: nowhere. */
  readonly meterProvider?: MeterProvider;
  /** Told of every objection. Default: OpenTelemetry's `diag`, which is silent until a host sets a logger. */
  readonly onDiagnostic?: DiagnosticListener;
}

/** A spool: files of event lines that only their owner can read, in folders that only their owner can open. */
export interface SpoolOptions {
  /** A directory on a local disk; made with mode 0700. Default: as with `true`. */
  readonly directory?: string;
  /**
   * Bytes that all processes together may leave for one endpoint, as each counts when it begins to write. Default 64 MiB;
   * the last eighth is for events with a state.
   */
  readonly maxBytes?: number;
  /**
   * Whether each write is brought to the device before a flush is complete. Default false: what is written survives
   * the end of the process, whatever kind of end, but not necessarily that of the machine.
   */
  readonly fsync?: boolean;
}

/** Knobs of the delivery; most hosts need none. */
export interface DeliveryOptions {
  /** Events waiting at most. Default `OTEL_BLRP_MAX_QUEUE_SIZE`, else 131,072: a burst of 100,000 in one turn fits. */
  readonly maxBufferedEvents?: number;
  /** Memory that waiting events may hold, bytes, estimated. Default 128 MiB. */
  readonly maxBufferedBytes?: number;
  /** Events per request at most. Default `OTEL_BLRP_MAX_EXPORT_BATCH_SIZE`, else 512. */
  readonly maxBatchSize?: number;
  /** How long an event waits for company, milliseconds. Default `OTEL_BLRP_SCHEDULE_DELAY`, else 1,000. */
  readonly scheduledDelayMs?: number;
  /** Requests in flight at most. Default 2. */
  readonly maxConcurrentExports?: number;
  /**
   * How long one batch is tried, retries included, before it goes to the spool or the JSONL fallback, milliseconds.
   * Default `OTEL_BLRP_EXPORT_TIMEOUT`, else 30,000. Without either a batch waits for its endpoint until the end.
   */
  readonly exportTimeoutMs?: number;
  /** How long one request may take, milliseconds. Default `OTEL_EXPORTER_OTLP_LOGS_TIMEOUT`, `…_TIMEOUT`, else 10,000. */
  readonly requestTimeoutMs?: number;
  /** How long the process's end may be held up by a flush, milliseconds. Default 2,000. */
  readonly exitTimeoutMs?: number;
}
