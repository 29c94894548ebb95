import { type Command, InvalidArgumentError, Option } from "commander";
import type { OtlpGrpcConfiguration, TokenConfiguration } from "../config/configuration.ts";
import { DEFAULT_CONFIGURATION, DEFAULT_OTLP_GRPC, DEFAULT_OTLP_HTTP } from "../config/defaults.ts";
import type { SourceConfiguration } from "../config/lifecycle-configuration.ts";
import { overlay, type Stated } from "../config/overlay.ts";
import type { StatedConfiguration } from "../config/resolve.ts";
import { wholeNumber } from "./whole-number.ts";

/** What the flags of `collector` say; each lies over what a configuration file says. */
export interface CollectorFlags {
  readonly database?: string;
  readonly synchronous?: "full" | "normal";
  readonly ingestHost?: string;
  readonly ingestPort?: number;
  readonly grpcHost?: string;
  readonly grpcPort?: number;
  readonly apiHost?: string;
  readonly apiPort?: number;
  readonly staleAfterMs?: number;
  readonly reconcileDeadlineMs?: number;
  readonly missingGrace?: number;
  readonly livenessIntervalMs?: number;
  readonly maxBodyBytes?: number;
  readonly sourceFreshness?: ReadonlyMap<string, SourceConfiguration>;
  readonly follow?: readonly string[];
  readonly allowedHost?: readonly string[];
  readonly stdin?: boolean;
  readonly ingestToken?: string;
  readonly readToken?: string;
  readonly insecurePublicBind?: boolean;
}

/** Declares the flags. None has a value of its own: what is not said is left to the file, and then to the defaults. */
export function addCollectorFlags(command: Command): Command {
  const { storage, api, lifecycle } = DEFAULT_CONFIGURATION;
  const http = DEFAULT_OTLP_HTTP.endpoint;
  const grpc = DEFAULT_OTLP_GRPC.endpoint;
  const usually = (text: string, value: unknown): string => `${text} (default: ${JSON.stringify(value)})`;
  return command
    .option("--database <file>", usually("database file", storage.path))
    .addOption(
      new Option(
        "--synchronous <mode>",
        usually("full: a commit survives a crash of the machine; normal: of the process", storage.synchronous),
      ).choices(["full", "normal"]),
    )
    .option("--ingest-host <address>", usually("address of OTLP/HTTP and the other ingest routes", http.host))
    .option(
      "--ingest-port <port>",
      `${usually("0 takes a free one", http.port)}; without a file and --grpc-port, OTLP/gRPC then takes a free one too, or is off`,
      wholeNumber,
    )
    .option("--grpc-host <address>", usually("address of OTLP/gRPC", grpc.host))
    .option("--grpc-port <port>", usually("0 takes a free one", grpc.port), wholeNumber)
    .option("--api-host <address>", usually("address of board, API and metrics", api.endpoint.host))
    .option("--api-port <port>", usually("0 takes a free one", api.endpoint.port), wholeNumber)
    .option("--stale-after-ms <ms>", usually("silence that makes a child stale", lifecycle.staleAfterMs), wholeNumber)
    .option(
      "--reconcile-deadline-ms <ms>",
      usually("how long an answer is awaited before a stale child may be lost", lifecycle.reconcileDeadlineMs),
      wholeNumber,
    )
    .option(
      "--missing-grace <snapshots>",
      usually("snapshots that may omit a child", lifecycle.missingGrace),
      wholeNumber,
    )
    .option(
      "--liveness-interval-ms <ms>",
      usually("time between two looks for silence", lifecycle.checkIntervalMs),
      wholeNumber,
    )
    .option(
      "--max-body-bytes <bytes>",
      usually("largest request, also after decompression", DEFAULT_OTLP_HTTP.maxRequestBodyBytes),
      wholeNumber,
    )
    .addOption(
      new Option(
        "--source-freshness <name:staleAfterMs:heartbeatIntervalMs>",
        "freshness of one source; repeatable",
      ).argParser(readSource),
    )
    .option("--follow <file>", "follow a JSONL file of events; repeatable", collect)
    .option("--stdin", "read JSONL events from standard input")
    .addOption(new Option("--ingest-token <token>", "bearer token for ingest").env("AGENT_LIFECYCLE_INGEST_TOKEN"))
    .addOption(new Option("--read-token <token>", "bearer token for reading").env("AGENT_LIFECYCLE_READ_TOKEN"))
    .option("--allowed-host <name>", "name that a reverse proxy passes on as Host; repeatable", collect)
    .option("--insecure-public-bind", "allow addresses beyond loopback without tokens");
}

/** Lays the flags over what a file states. */
export function applyFlags(file: StatedConfiguration, flags: CollectorFlags): StatedConfiguration {
  const { staleAfterMs, reconcileDeadlineMs, missingGrace, allowedHost, sourceFreshness } = flags;
  const sources = sourceFreshness && new Map([...(file.lifecycle?.sources ?? []), ...sourceFreshness]);
  const tokens = tokensOf(flags);
  const stated = overlay<StatedConfiguration>(file, {
    api: { endpoint: { host: flags.apiHost, port: flags.apiPort }, allowedHosts: allowedHost },
    storage: { path: flags.database, synchronous: flags.synchronous },
    lifecycle: {
      staleAfterMs,
      reconcileDeadlineMs,
      missingGrace,
      checkIntervalMs: flags.livenessIntervalMs,
      sources,
    },
    access: {
      insecurePublicBind: flags.insecurePublicBind,
      tokens: tokens.length === 0 ? undefined : [...(file.access?.tokens ?? []), ...tokens],
    },
  });
  return withReceivers(stated, flags);
}

function withReceivers(stated: StatedConfiguration, flags: CollectorFlags): StatedConfiguration {
  const { follow = [], stdin, allowedHost, maxBodyBytes } = flags;
  const httpEndpoint = { host: flags.ingestHost, port: flags.ingestPort };
  const http = { endpoint: httpEndpoint, allowedHosts: allowedHost, maxRequestBodyBytes: maxBodyBytes };
  const grpc = grpcOf(stated, flags);
  const added = {
    ...(saysAnything(http) || grpc !== undefined ? { otlp: { protocols: { http, grpc } } } : undefined),
    ...Object.fromEntries(follow.map((path, index) => [`jsonl_file/follow-${index + 1}`, { path }])),
    ...(stdin === true ? { jsonl_stdin: {} } : undefined),
  };
  const ids = Object.keys(added);
  if (ids.length === 0) return stated;
  const receivers = overlay<StatedConfiguration["receivers"]>(stated.receivers ?? { otlp: {} }, added);
  const named = stated.service?.receivers;
  if (named === undefined) return { ...stated, receivers };
  return { ...stated, receivers, service: { ...stated.service, receivers: [...new Set([...named, ...ids])] } };
}

type StatedGrpc = Stated<OtlpGrpcConfiguration> | null | undefined;

/**
 * Whoever moves OTLP/HTTP by a flag alone, as beside another collector, does not mean to take that one's port for
 * OTLP/gRPC.
 */
function grpcOf(
  stated: StatedConfiguration,
  { grpcHost, grpcPort, ingestPort, maxBodyBytes }: CollectorFlags,
): StatedGrpc {
  const size = maxBodyBytes === undefined ? undefined : { maxRequestBodyBytes: maxBodyBytes };
  if (grpcHost !== undefined || grpcPort !== undefined) {
    return { endpoint: { host: grpcHost, port: grpcPort }, ...size };
  }
  const isSaidByFile = stated.receivers?.otlp !== undefined;
  if (isSaidByFile || ingestPort === undefined) return isSaidByFile ? undefined : size;
  return ingestPort === 0 ? { endpoint: { port: 0 }, ...size } : null;
}

function saysAnything(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value !== undefined;
  return Object.values(value).some(saysAnything);
}

/** One token for both is one sender. */
function tokensOf({ ingestToken, readToken }: CollectorFlags): readonly TokenConfiguration[] {
  if (ingestToken !== undefined && ingestToken === readToken) {
    return [{ name: "ingest-and-read-token", token: ingestToken, scopes: ["ingest", "read"] }];
  }
  return [
    ...(ingestToken === undefined ? [] : [{ name: "ingest-token", token: ingestToken, scopes: ["ingest"] as const }]),
    ...(readToken === undefined ? [] : [{ name: "read-token", token: readToken, scopes: ["read"] as const }]),
  ];
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** `runner:60000:20000`; a source's name may hold colons itself. */
function readSource(
  text: string,
  previous: ReadonlyMap<string, SourceConfiguration> = new Map(),
): ReadonlyMap<string, SourceConfiguration> {
  const match = /^(.+):(\d{1,15}):(\d{1,15})$/.exec(text);
  if (match === null) throw new InvalidArgumentError("It must be name:staleAfterMs:heartbeatIntervalMs.");
  const [, name, staleAfterMs, heartbeatIntervalMs] = match;
  return new Map(previous).set(String(name), {
    staleAfterMs: Number(staleAfterMs),
    heartbeatIntervalMs: Number(heartbeatIntervalMs),
  });
}
