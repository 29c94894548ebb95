import { DEFAULT_ASKING_POLICY, DEFAULT_FRESHNESS } from "../core/index.ts";
import type {
  ApiConfiguration,
  CollectorConfiguration,
  JsonlStdinConfiguration,
  ModuleConfiguration,
  OtlpGrpcConfiguration,
  OtlpHttpConfiguration,
  OtlpReceiverConfiguration,
  TlsConfiguration,
} from "./configuration.ts";
import {
  DEFAULT_JSONL_EXPORTER,
  DEFAULT_OTLP_GRPC_EXPORTER,
  DEFAULT_OTLP_HTTP_EXPORTER,
  DEFAULT_WEBHOOK_EXPORTER,
} from "./exporter-configuration.ts";
import type { HermesReceiverConfiguration, HermesStdioConfiguration } from "./hermes-configuration.ts";
import type {
  AskedSourceConfiguration,
  HttpSnapshotSourceConfiguration,
  PushSnapshotSourceConfiguration,
} from "./snapshot-source-configuration.ts";

const MEBIBYTE = 1024 * 1024;

/** What OTLP/HTTP has of which nothing is said. */
export const DEFAULT_OTLP_HTTP: OtlpHttpConfiguration = {
  endpoint: { host: "127.0.0.1", port: 4318 },
  maxRequestBodyBytes: 64 * MEBIBYTE,
  allowedOrigins: [],
  allowedHosts: [],
  tls: undefined,
};

/** What OTLP/gRPC has of which nothing is said. */
export const DEFAULT_OTLP_GRPC: OtlpGrpcConfiguration = {
  endpoint: { host: "127.0.0.1", port: 4317 },
  maxRequestBodyBytes: 64 * MEBIBYTE,
  tls: undefined,
};

const DEFAULT_API: ApiConfiguration = {
  endpoint: { host: "127.0.0.1", port: 8787 },
  allowedHosts: [],
  allowedOrigins: [],
  tls: undefined,
  maxStreams: 256,
};

/** What a TLS listener has when only its files are stated. */
export const DEFAULT_TLS: Omit<TlsConfiguration, "certFile" | "keyFile"> = {
  clientCaFile: undefined,
  reloadIntervalMs: 60_000,
};

const DEFAULT_OTLP: OtlpReceiverConfiguration = { protocols: { http: DEFAULT_OTLP_HTTP, grpc: DEFAULT_OTLP_GRPC } };
const DEFAULT_JSONL: JsonlStdinConfiguration = { maxLineBytes: 64 * 1024 };
const DEFAULT_MODULE: Pick<ModuleConfiguration, "options"> = { options: {} };

/** What a gateway of Hermes has of which only its address is said. */
const DEFAULT_HERMES: Omit<HermesReceiverConfiguration, "url" | "stdio"> = {
  source: "hermes",
  pollIntervalMs: 1_000,
  attach: false,
  cancel: false,
  nameGoals: true,
  maxFrameBytes: 16 * MEBIBYTE,
  requestTimeoutMs: 10_000,
  silenceTimeoutMs: 45_000,
};

/** What a gateway has that we start, and of which nothing else is said. */
export const DEFAULT_HERMES_STDIO: HermesStdioConfiguration = {
  command: ["python", "-m", "tui_gateway.entry"],
  environment: new Map(),
};

/** What a component has of which nothing but its id is said, by its type. */
export interface ComponentDefaults {
  readonly [type: string]: object | undefined;
}

export const RECEIVER_DEFAULTS: ComponentDefaults = {
  otlp: DEFAULT_OTLP,
  jsonl_file: DEFAULT_JSONL,
  jsonl_stdin: DEFAULT_JSONL,
  hermes: DEFAULT_HERMES,
  module: DEFAULT_MODULE,
};

export const EXPORTER_DEFAULTS: ComponentDefaults = {
  otlp_http: DEFAULT_OTLP_HTTP_EXPORTER,
  otlp_grpc: DEFAULT_OTLP_GRPC_EXPORTER,
  jsonl: DEFAULT_JSONL_EXPORTER,
  webhook: DEFAULT_WEBHOOK_EXPORTER,
  module: DEFAULT_MODULE,
};

const DEFAULT_ASKED_SOURCE: Omit<AskedSourceConfiguration, "source"> = {
  intervalMs: DEFAULT_ASKING_POLICY.intervalMs,
  timeoutMs: 5_000,
  retry: { initialIntervalMs: DEFAULT_ASKING_POLICY.retryMs, maxIntervalMs: DEFAULT_ASKING_POLICY.maxRetryMs },
};

const DEFAULT_HTTP_SOURCE: Omit<HttpSnapshotSourceConfiguration, "source" | "url"> = {
  ...DEFAULT_ASKED_SOURCE,
  token: undefined,
  tokenFile: undefined,
  tls: undefined,
  maxAnswerBytes: 16 * MEBIBYTE,
};

const DEFAULT_PUSH_SOURCE: Omit<PushSnapshotSourceConfiguration, "source"> = {
  intervalMs: 10_000,
  tokenName: undefined,
};

export const SNAPSHOT_SOURCE_DEFAULTS: ComponentDefaults = {
  http: DEFAULT_HTTP_SOURCE,
  push: DEFAULT_PUSH_SOURCE,
  module: { ...DEFAULT_ASKED_SOURCE, ...DEFAULT_MODULE },
};

/** What holds when nothing is said. */
export const DEFAULT_CONFIGURATION: CollectorConfiguration = {
  receivers: { otlp: DEFAULT_OTLP },
  exporters: {},
  snapshotSources: {},
  api: DEFAULT_API,
  storage: {
    path: ".agent-lifecycle/collector.db",
    synchronous: "full",
    retention: { maxAgeMs: undefined, maxSizeBytes: undefined, intervalMs: 60_000 },
    backupDirectory: undefined,
  },
  lifecycle: { ...DEFAULT_FRESHNESS, missingGrace: 2, checkIntervalMs: 1_000, sources: new Map() },
  access: { insecurePublicBind: false, tokens: [], certificates: [] },
  limits: {
    queueBytes: 64 * MEBIBYTE,
    bodiesBytes: 256 * MEBIBYTE,
    connections: 4_096,
    eventLoopDelayMs: 1_000,
    memory: "80%",
    requestsPerSecond: undefined,
    diagnostics: 10_000,
  },
  service: {
    receivers: ["otlp"],
    exporters: [],
    snapshotSources: [],
    shutdownTimeoutMs: 10_000,
    telemetry: { logs: { level: "info" } },
  },
};
