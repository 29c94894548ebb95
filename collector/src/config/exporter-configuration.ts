/** What may be sent by OTLP. */
export type ExportedSignal = "logs" | "traces" | "metrics";

/** How a destination is reached that is sent to over the network. */
interface NetworkExporterConfiguration {
  /** Sent with every request, by name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Without it what the system trusts is trusted, and no certificate is shown. */
  readonly tls: ClientTlsConfiguration | undefined;
  /** For one request. Milliseconds; default 10,000. */
  readonly timeoutMs: number;
  /** First wait after a failure; it doubles. Milliseconds; default 500. */
  readonly initialBackoffMs: number;
  /** Longest wait between two attempts. Milliseconds; default 60,000. */
  readonly maxBackoffMs: number;
}

/** All files are PEM. */
export interface ClientTlsConfiguration {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

interface OtlpExporterConfiguration extends NetworkExporterConfiguration {
  readonly signals: readonly ExportedSignal[];
  readonly compression: "gzip" | "none";
  /** Whether activities are sent as log records too. Default `true`. */
  readonly activities: boolean;
  /** Between two sendings of metrics. Milliseconds; default 60,000. */
  readonly metricsIntervalMs: number;
  /** Said of the collector on everything that is sent. Default: its `service.name`. */
  readonly resourceAttributes: ReadonlyMap<string, string>;
}

export interface OtlpHttpExporterConfiguration extends OtlpExporterConfiguration {
  /** Base URL: `/v1/logs` and so on are added. */
  readonly endpoint: string | undefined;
  /** URLs of single signals, used as they are. */
  readonly logsEndpoint: string | undefined;
  readonly tracesEndpoint: string | undefined;
  readonly metricsEndpoint: string | undefined;
  readonly encoding: "proto" | "json";
}

export interface OtlpGrpcExporterConfiguration extends OtlpExporterConfiguration {
  /** `host:port`; TLS where `tls` is there, plain text otherwise. */
  readonly endpoint: string;
}

export interface JsonlExporterConfiguration {
  readonly path: string;
  /** A larger file is set aside, and a new one begun. Bytes; default 64 MiB. */
  readonly maxFileBytes: number;
  /** Files that were set aside and are kept. Default 5. */
  readonly keptFiles: number;
  /** As of OTLP. */
  readonly activities: boolean;
}

/** What somebody may want to be told of a child. */
export type WebhookOccasion = "lost" | "failed" | "waiting" | "stale" | "cancelled" | "completed";

export interface WebhookExporterConfiguration extends NetworkExporterConfiguration {
  readonly url: string;
  /** Signs every request. */
  readonly secret: string;
  /** Default: lost, failed, waiting. */
  readonly occasions: readonly WebhookOccasion[];
}

const MEBIBYTE = 1024 * 1024;

const DEFAULT_NETWORK: NetworkExporterConfiguration = {
  headers: new Map(),
  tls: undefined,
  timeoutMs: 10_000,
  initialBackoffMs: 500,
  maxBackoffMs: 60_000,
};

const DEFAULT_OTLP: OtlpExporterConfiguration = {
  ...DEFAULT_NETWORK,
  signals: ["logs", "traces", "metrics"],
  compression: "gzip",
  activities: true,
  metricsIntervalMs: 60_000,
  resourceAttributes: new Map(),
};

export const DEFAULT_OTLP_HTTP_EXPORTER: OtlpHttpExporterConfiguration = {
  ...DEFAULT_OTLP,
  endpoint: undefined,
  logsEndpoint: undefined,
  tracesEndpoint: undefined,
  metricsEndpoint: undefined,
  encoding: "proto",
};

export const DEFAULT_OTLP_GRPC_EXPORTER: Omit<OtlpGrpcExporterConfiguration, "endpoint"> = DEFAULT_OTLP;

export const DEFAULT_JSONL_EXPORTER: Omit<JsonlExporterConfiguration, "path"> = {
  maxFileBytes: 64 * MEBIBYTE,
  keptFiles: 5,
  activities: true,
};

export const DEFAULT_WEBHOOK_EXPORTER: Omit<WebhookExporterConfiguration, "url" | "secret"> = {
  ...DEFAULT_NETWORK,
  occasions: ["lost", "failed", "waiting"],
};
