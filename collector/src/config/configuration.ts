import type {
  JsonlExporterConfiguration,
  OtlpGrpcExporterConfiguration,
  OtlpHttpExporterConfiguration,
  WebhookExporterConfiguration,
} from "./exporter-configuration.ts";
import type { HermesReceiverConfiguration } from "./hermes-configuration.ts";
import type { LifecycleConfiguration } from "./lifecycle-configuration.ts";
import type { SnapshotSourcesConfiguration } from "./snapshot-source-configuration.ts";

/**
 * Everything the collector can be told. Every member has a default; no file is needed to start. A file has the same tree
 * in snake_case, with durations (`stale_after: 120s`) and sizes (`queue: 64MiB`) where a name here ends in `Ms` or `Bytes`.
 */
export interface CollectorConfiguration {
  /** Where evidence comes from. Default: `otlp`. One that `service.receivers` does not name is inert. */
  readonly receivers: ReceiversConfiguration;
  /** Where the projection goes. Default: none. One that `service.exporters` does not name is inert. */
  readonly exporters: ExportersConfiguration;
  /** Who is relied on to know all children of a source, one for each source at most. Default: none. */
  readonly snapshotSources: SnapshotSourcesConfiguration;
  readonly api: ApiConfiguration;
  readonly storage: StorageConfiguration;
  readonly lifecycle: LifecycleConfiguration;
  readonly access: AccessConfiguration;
  readonly limits: LimitsConfiguration;
  readonly service: ServiceConfiguration;
}

/** Receivers by their id, `type` or `type/name`. */
export interface ReceiversConfiguration {
  readonly otlp?: OtlpReceiverConfiguration;
  readonly jsonl_stdin?: JsonlStdinConfiguration;
  readonly jsonl_file?: JsonlFileConfiguration;
  readonly [id: `jsonl_file/${string}`]: JsonlFileConfiguration;
  readonly hermes?: HermesReceiverConfiguration;
  readonly [id: `hermes/${string}`]: HermesReceiverConfiguration;
  readonly module?: ModuleConfiguration;
  readonly [id: `module/${string}`]: ModuleConfiguration;
}

/** Exporters by their id, `type` or `type/name`. */
export interface ExportersConfiguration {
  readonly otlp_http?: OtlpHttpExporterConfiguration;
  readonly [id: `otlp_http/${string}`]: OtlpHttpExporterConfiguration;
  readonly otlp_grpc?: OtlpGrpcExporterConfiguration;
  readonly [id: `otlp_grpc/${string}`]: OtlpGrpcExporterConfiguration;
  readonly jsonl?: JsonlExporterConfiguration;
  readonly [id: `jsonl/${string}`]: JsonlExporterConfiguration;
  readonly webhook?: WebhookExporterConfiguration;
  readonly [id: `webhook/${string}`]: WebhookExporterConfiguration;
  readonly module?: ModuleConfiguration;
  readonly [id: `module/${string}`]: ModuleConfiguration;
}

/** OTLP and the other ingest routes. */
export interface OtlpReceiverConfiguration {
  /** `null`: off. Default: both on. In a file, a protocol that a stated `protocols` leaves out is off. */
  readonly protocols: {
    readonly http: OtlpHttpConfiguration | null;
    readonly grpc: OtlpGrpcConfiguration | null;
  };
}

export interface OtlpHttpConfiguration extends HttpListenerConfiguration {
  /** Largest request body, before and after decompression. Bytes; default 64 MiB. */
  readonly maxRequestBodyBytes: number;
}

export interface OtlpGrpcConfiguration extends ListenerConfiguration {
  /** Largest request message, before and after decompression. Bytes; default 64 MiB. */
  readonly maxRequestBodyBytes: number;
}

/** A JSONL file of events that is followed as it grows. */
export interface JsonlFileConfiguration {
  readonly path: string;
  /** Longest line; a longer one is skipped and counted. Bytes; default 64 KiB. */
  readonly maxLineBytes: number;
}

/** JSONL events on standard input. */
export interface JsonlStdinConfiguration {
  /** As in `JsonlFileConfiguration`. */
  readonly maxLineBytes: number;
}

/** A component that someone else has written. */
export interface ModuleConfiguration {
  /** Path of an ES module, or the name of a package. */
  readonly module: string;
  /** Handed to the component as it is. Default: none. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Where a server listens. */
export interface Endpoint {
  /** An address of loopback needs no token; any other needs one, client certificates, or `access.insecurePublicBind`. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

export interface ListenerConfiguration {
  readonly endpoint: Endpoint;
  /** Default `undefined`: plain text. */
  readonly tls: TlsConfiguration | undefined;
}

export interface HttpListenerConfiguration extends ListenerConfiguration {
  /** Further names that the `Host` header may have on a loopback listener, as behind a reverse proxy. Default none. */
  readonly allowedHosts: readonly string[];
  /** Origins whose web pages may post here (CORS). Default none. */
  readonly allowedOrigins: readonly string[];
}

/** The certificate that a listener shows, and what it asks of clients. All files are PEM. */
export interface TlsConfiguration {
  /** The server's certificate, followed by its chain. */
  readonly certFile: string;
  readonly keyFile: string;
  /** With it, every client must show a certificate that one of these authorities has signed (mTLS). Default none. */
  readonly clientCaFile: string | undefined;
  /** Time between two looks for replaced files. Milliseconds; default 60,000. */
  readonly reloadIntervalMs: number;
}

/** API, board and metrics. Default 127.0.0.1:8787. */
export interface ApiConfiguration extends HttpListenerConfiguration {
  /** Live streams that may be open at one time. Default 256. */
  readonly maxStreams: number;
}

export interface StorageConfiguration {
  /** Database file. Default `.agent-lifecycle/collector.db`. */
  readonly path: string;
  /** `full` (default) survives a crash of the machine; `normal` one of the process. */
  readonly synchronous: "full" | "normal";
  readonly retention: RetentionConfiguration;
  /** Folder that backups may be written to. Default: none, and no backup by the API. */
  readonly backupDirectory: string | undefined;
}

/** What may be deleted. Live children and what they rest on never are. */
export interface RetentionConfiguration {
  /** Inputs older than this may go. Milliseconds; default `undefined`: none for its age. */
  readonly maxAgeMs: number | undefined;
  /** The oldest inputs go while the database is larger. Bytes; default `undefined`: none for its size. */
  readonly maxSizeBytes: number | undefined;
  /** Time between two looks. Milliseconds; default 60,000. */
  readonly intervalMs: number;
}

export interface AccessConfiguration {
  /** Allows a listener beyond loopback that asks for neither tokens nor client certificates. Default `false`. */
  readonly insecurePublicBind: boolean;
  /** Default none: everybody who reaches a listener may send and read. */
  readonly tokens: readonly TokenConfiguration[];
  /** Default none: a client certificate names its sender, and opens nothing that is granted to others. */
  readonly certificates: readonly CertificateConfiguration[];
}

/** A bearer token, said by exactly one of `token` and `tokenFile`. */
export interface TokenConfiguration {
  /** Stands in logs and in the audit; it is no secret. */
  readonly name: string;
  readonly token?: string;
  /** The token is the file's content without surrounding white space. */
  readonly tokenFile?: string;
  readonly scopes: readonly ("ingest" | "read" | "admin")[];
  /** The sources it may speak for. Without it: any. */
  readonly sources?: readonly string[];
}

/**
 * Client certificates, said by exactly one of `subject`, `commonName` and `alternativeName`; each is compared as a whole.
 * Of several entries that one certificate matches, the first counts.
 */
export interface CertificateConfiguration {
  /** Stands in logs and in the audit. */
  readonly name: string;
  /** The whole subject, in the order of the certificate: `O=Example, CN=runner`. */
  readonly subject?: string;
  /** The subject's one `CN`. */
  readonly commonName?: string;
  /** One subject alternative name with its kind: `DNS:…`, `URI:…` or `email:…`. */
  readonly alternativeName?: string;
  readonly scopes: readonly ("ingest" | "read" | "admin")[];
  /** The sources it may speak for. Without it: any. */
  readonly sources?: readonly string[];
}

export interface LimitsConfiguration {
  /** Received and not yet durable; beyond it requests are refused retryably. Bytes; default 64 MiB. */
  readonly queueBytes: number;
  /** Request bodies held at one time; beyond it requests are refused retryably. Bytes; default 256 MiB. */
  readonly bodiesBytes: number;
  /** Open connections of one listener; further ones are closed at once. Default 4,096. */
  readonly connections: number;
  /** Requests are refused retryably while the event loop is later than this. Milliseconds; default 1,000. */
  readonly eventLoopDelayMs: number;
  /** Memory in use beyond which requests are refused retryably. Bytes, or a share of what the process may use; default `80%`. */
  readonly memory: number | `${number}%`;
  /** Requests each sender may make in a second. Default `undefined`: any number. */
  readonly requestsPerSecond: number | undefined;
  /** Diagnostics that are kept; the oldest go. Default 10,000. */
  readonly diagnostics: number;
}

export interface ServiceConfiguration {
  /** Ids of the receivers that run. Default: all that are defined. */
  readonly receivers: readonly string[];
  /** Ids of the exporters that run. Default: all that are defined. */
  readonly exporters: readonly string[];
  /** Ids of the snapshot sources that run. Default: all that are defined. */
  readonly snapshotSources: readonly string[];
  /** How long a shutdown may take before the process ends without it. Milliseconds; default 10,000. */
  readonly shutdownTimeoutMs: number;
  readonly telemetry: { readonly logs: { readonly level: LogLevel } };
}

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
