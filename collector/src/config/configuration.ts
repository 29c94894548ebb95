import { checkFreshness, DEFAULT_FRESHNESS, type FreshnessPolicy } from "../core/index.ts";

/** Where a server listens. */
export interface Listener {
  /** Default `127.0.0.1`. Any other address than loopback needs a token, or `insecurePublicBind`. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** What an operator may say of one source. */
export interface SourceConfiguration extends Partial<FreshnessPolicy> {
  /** The heartbeat interval the source keeps; `staleAfterMs` must be at least twice as long (S8). Milliseconds. */
  readonly heartbeatIntervalMs?: number;
}

/** Everything the collector can be told. Every member has a default; no file is needed to start. */
export interface CollectorConfiguration {
  /** Database file. Default `.agent-lifecycle/collector.db` in the working directory. */
  readonly database: string;
  /** `full` (default) survives a crash of the machine; `normal` one of the process. */
  readonly synchronous: "full" | "normal";
  /** OTLP/HTTP and the other ingest routes. Default 127.0.0.1:4318. */
  readonly ingest: Listener;
  /** API, board and metrics. Default 127.0.0.1:8787. */
  readonly api: Listener;
  readonly freshness: FreshnessPolicy;
  readonly sources: ReadonlyMap<string, SourceConfiguration>;
  /** Consecutive complete snapshots that may omit a child before it is stale. Default 2. */
  readonly missingGrace: number;
  /** Time between two looks for silence. Milliseconds; default 1,000. */
  readonly livenessIntervalMs: number;
  /** Largest request body, before and after decompression. Bytes; default 64 MiB. */
  readonly maxBodyBytes: number;
  /** Received and not yet durable; beyond it requests are refused retryably. Bytes; default 64 MiB. */
  readonly maxQueueBytes: number;
  /** Bearer token for the ingest routes. Default none. */
  readonly ingestToken: string | undefined;
  /** Bearer token for API and metrics. Default none. */
  readonly readToken: string | undefined;
  /** Allows a listener beyond loopback without tokens. Default `false`. */
  readonly insecurePublicBind: boolean;
  /** Further names that the `Host` header may have on a loopback listener, as behind a reverse proxy. Default none. */
  readonly allowedHosts: readonly string[];
  /** JSONL files to follow. */
  readonly jsonlFiles: readonly string[];
  /** Read JSONL from standard input. */
  readonly jsonlStdin: boolean;
}

const MEBIBYTE = 1024 * 1024;

export const DEFAULT_CONFIGURATION: CollectorConfiguration = {
  database: ".agent-lifecycle/collector.db",
  synchronous: "full",
  ingest: { host: "127.0.0.1", port: 4318 },
  api: { host: "127.0.0.1", port: 8787 },
  freshness: DEFAULT_FRESHNESS,
  sources: new Map(),
  missingGrace: 2,
  livenessIntervalMs: 1_000,
  maxBodyBytes: 64 * MEBIBYTE,
  maxQueueBytes: 64 * MEBIBYTE,
  ingestToken: undefined,
  readToken: undefined,
  insecurePublicBind: false,
  allowedHosts: [],
  jsonlFiles: [],
  jsonlStdin: false,
};

/** One thing that is wrong with a configuration, in words, and where. */
export interface ConfigurationProblem {
  readonly path: string;
  readonly text: string;
}

/** Lays what was said over the defaults and finds everything that is wrong with it, not only the first thing. */
export function resolveConfiguration(stated: Partial<CollectorConfiguration>): {
  readonly configuration: CollectorConfiguration;
  readonly problems: readonly ConfigurationProblem[];
} {
  const configuration = { ...DEFAULT_CONFIGURATION, ...stated };
  return { configuration, problems: problemsOf(configuration) };
}

/** The freshness policy in force for a source. */
export function freshnessOf(configuration: CollectorConfiguration, source: string): FreshnessPolicy {
  const own = configuration.sources.get(source);
  if (own === undefined) return configuration.freshness;
  return {
    staleAfterMs: own.staleAfterMs ?? configuration.freshness.staleAfterMs,
    reconcileDeadlineMs: own.reconcileDeadlineMs ?? configuration.freshness.reconcileDeadlineMs,
  };
}

/** The shortest silence that makes any child stale. Milliseconds. */
export function shortestStaleAfterMs(configuration: CollectorConfiguration): number {
  const sources = [...configuration.sources.keys()].map((source) => freshnessOf(configuration, source).staleAfterMs);
  return Math.min(configuration.freshness.staleAfterMs, ...sources);
}

function problemsOf(configuration: CollectorConfiguration): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const report = (path: string, text: string): void => void problems.push({ path, text });
  const expectPositive = (path: string, value: number): void => {
    if (!Number.isSafeInteger(value) || value <= 0) report(path, `must be a whole number above 0, not ${value}`);
  };
  expectPositive("freshness.staleAfterMs", configuration.freshness.staleAfterMs);
  expectPositive("freshness.reconcileDeadlineMs", configuration.freshness.reconcileDeadlineMs);
  expectPositive("missingGrace", configuration.missingGrace);
  expectPositive("livenessIntervalMs", configuration.livenessIntervalMs);
  expectPositive("maxBodyBytes", configuration.maxBodyBytes);
  expectPositive("maxQueueBytes", configuration.maxQueueBytes);
  for (const [source, stated] of configuration.sources) {
    const policy = freshnessOf(configuration, source);
    expectPositive(`sources.${source}.staleAfterMs`, policy.staleAfterMs);
    expectPositive(`sources.${source}.reconcileDeadlineMs`, policy.reconcileDeadlineMs);
    const freshness = checkFreshness(policy, stated.heartbeatIntervalMs);
    if (freshness !== undefined) report(`sources.${source}`, freshness);
  }
  const { ingest, api, ingestToken, readToken } = configuration;
  checkListener("ingest", ingest, ingestToken !== undefined, configuration, report);
  // The API's listener takes evidence too: reading and writing both need their token.
  checkListener("api", api, readToken !== undefined && ingestToken !== undefined, configuration, report);
  return problems;
}

function checkListener(
  path: string,
  { host, port }: Listener,
  isGuarded: boolean,
  { insecurePublicBind }: CollectorConfiguration,
  report: (path: string, text: string) => void,
): void {
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535) report(`${path}.port`, `is no port: ${port}`);
  if (isLoopback(host) || isGuarded || insecurePublicBind) return;
  const missing = path === "api" ? "--read-token and --ingest-token" : "--ingest-token";
  report(
    `${path}.host`,
    `${host} is reachable by others without a token: set ${missing}, or say --insecure-public-bind if that is meant`,
  );
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
