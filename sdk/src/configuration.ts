import { cutText, MAX_IDENTIFIER_LENGTH, redactIdentifier } from "@agent-lifecycle/proto";
import type { LoggerProvider } from "@opentelemetry/api";
import type { LogRecordExporter } from "@opentelemetry/sdk-logs";
import { type Range, resolveNumber } from "./configuration-number.ts";
import { type Environment, type OtlpConfiguration, resolveOtlp } from "./configuration-otlp.ts";
import { type ConfigurationProblem, ProblemList } from "./configuration-problem.ts";
import { resolveSpool, type SpoolConfiguration } from "./configuration-spool.ts";
import type { JsonlDestination, LifecycleOptions } from "./options.ts";

/** Where events go. Decided once, from options and environment. */
export type Destination =
  | { readonly kind: "none"; readonly reason: string }
  | { readonly kind: "host"; readonly loggerProvider: LoggerProvider }
  | { readonly kind: "jsonl"; readonly jsonl: JsonlDestination }
  | ({ readonly kind: "exporter"; readonly exporter: LogRecordExporter } & Detours)
  | ({ readonly kind: "otlp"; readonly otlp: OtlpConfiguration } & Detours);

/** Where events go that an endpoint does not take. */
export interface Detours {
  readonly fallback?: JsonlDestination;
  readonly spool?: SpoolConfiguration;
}

export interface BatchingConfiguration {
  readonly maxBufferedEvents: number;
  readonly maxBufferedBytes: number;
  readonly maxBatchSize: number;
  readonly scheduledDelayMs: number;
  readonly maxConcurrentExports: number;
  readonly exportTimeoutMs: number;
}

/** Everything resolved; nothing reads options or the environment after this. */
export interface Configuration {
  readonly source: string;
  /** Absent: a fresh one is made. */
  readonly sourceEpoch?: string;
  readonly destination: Destination;
  readonly batching: BatchingConfiguration;
  readonly heartbeatIntervalMs: number;
  readonly exitHooks: boolean;
  readonly exitTimeoutMs: number;
}

export interface ResolvedConfiguration {
  readonly configuration: Configuration;
  /** Every problem found, not only the first. */
  readonly problems: readonly ConfigurationProblem[];
}

export interface ConfigurationDefaults extends BatchingConfiguration {
  readonly requestTimeoutMs: number;
  readonly exitTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly endpoint: string;
}

/** The defaults; the documentation quotes them from here. */
const DEFAULTS: ConfigurationDefaults = Object.freeze({
  maxBufferedEvents: 131_072,
  maxBufferedBytes: 128 * 1024 * 1024,
  maxBatchSize: 512,
  scheduledDelayMs: 1_000,
  maxConcurrentExports: 2,
  exportTimeoutMs: 30_000,
  requestTimeoutMs: 10_000,
  exitTimeoutMs: 2_000,
  heartbeatIntervalMs: 30_000,
  endpoint: "http://localhost:4318",
});

const MAX_TIMER_MS = 2 ** 31 - 1;
const COUNT: Range = { least: 1, most: 1_000_000 };
const BYTES: Range = { least: 65_536, most: 2 ** 40 };
const DURATION: Range = { least: 1, most: MAX_TIMER_MS };
const DURATION_OR_ZERO: Range = { least: 0, most: MAX_TIMER_MS };

/**
 * Merges options over environment over defaults. Pure, never throws for plain values. A bad value is reported and its
 * default used; a source that is no identifier leaves nothing to report under, so the destination becomes `none`.
 */
export function resolveConfiguration(options: LifecycleOptions, environment: Environment): ResolvedConfiguration {
  const problems = new ProblemList();
  const source = identifier("source", options.source, problems);
  const sourceEpoch =
    options.sourceEpoch === undefined ? undefined : identifier("sourceEpoch", options.sourceEpoch, problems);
  const configuration: Configuration = {
    source: source ?? "invalid",
    ...(sourceEpoch === undefined ? undefined : { sourceEpoch }),
    destination: resolveDestination(source, options, environment, problems),
    batching: resolveBatching(options, environment, problems),
    heartbeatIntervalMs: resolveHeartbeat(options, problems),
    exitHooks: options.exitHooks !== false,
    exitTimeoutMs: resolveNumber(
      [{ path: "delivery.exitTimeoutMs", value: options.delivery?.exitTimeoutMs }],
      DURATION_OR_ZERO,
      DEFAULTS.exitTimeoutMs,
      problems,
    ),
  };
  return { configuration, problems: problems.all };
}

/** An identifier as the contract wants it, or `undefined` with a problem noted. */
function identifier(path: string, value: unknown, problems: ProblemList): string | undefined {
  const trimmed = typeof value === "string" ? value.trim() : "";
  if (trimmed.length === 0 || trimmed.length > MAX_IDENTIFIER_LENGTH) {
    problems.add(path, `must be a text of 1 to ${MAX_IDENTIFIER_LENGTH} characters`);
    return undefined;
  }
  return redactIdentifier(trimmed);
}

function resolveDestination(
  source: string | undefined,
  options: LifecycleOptions,
  environment: Environment,
  problems: ProblemList,
): Destination {
  if (source === undefined) return { kind: "none", reason: "the source is no identifier" };
  if (environment.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") {
    return { kind: "none", reason: "OTEL_SDK_DISABLED is true" };
  }
  if (options.loggerProvider !== undefined) {
    if (typeof options.loggerProvider.getLogger === "function")
      return { kind: "host", loggerProvider: options.loggerProvider };
    problems.add("loggerProvider", "must have a getLogger method");
  }
  const jsonl = resolveJsonl(options, environment, problems);
  const spool = resolveSpool(options, environment, problems);
  const detours: Detours = {
    ...(jsonl === undefined ? undefined : { fallback: jsonl }),
    ...(spool === undefined ? undefined : { spool }),
  };
  if (options.exporter !== undefined) {
    if (typeof options.exporter.export === "function")
      return { kind: "exporter", exporter: options.exporter, ...detours };
    problems.add("exporter", "must have an export method");
  }
  const otlp = resolveOtlp(options, environment, problems, {
    endpoint: jsonl === undefined ? DEFAULTS.endpoint : undefined,
    requestTimeoutMs: DEFAULTS.requestTimeoutMs,
  });
  if (otlp !== undefined) return { kind: "otlp", otlp, ...detours };
  return jsonl === undefined ? { kind: "none", reason: "no usable endpoint" } : { kind: "jsonl", jsonl };
}

function resolveJsonl(
  options: LifecycleOptions,
  environment: Environment,
  problems: ProblemList,
): JsonlDestination | undefined {
  const stated: unknown = options.jsonl;
  if (stated === false) return undefined;
  if (stated === undefined) {
    const variable = environment.AGENT_LIFECYCLE_JSONL?.trim();
    if (variable === undefined || variable === "") {
      const journal = environment.AGENT_LIFECYCLE_JOURNAL?.trim() ?? "";
      return journal === "" ? undefined : { journal };
    }
    return variable === "stdout" || variable === "stderr" ? variable : { path: variable };
  }
  if (stated === "stdout" || stated === "stderr") return stated;
  if (typeof stated === "object" && stated !== null) {
    const { path, journal } = stated as Readonly<Record<string, unknown>>;
    if (isPath(path)) return { path };
    if (isPath(journal)) return { journal };
  }
  problems.add("jsonl", 'must be "stdout", "stderr", { path }, { journal } or false');
  return undefined;
}

function isPath(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && !value.includes("\0");
}

function resolveBatching(
  options: LifecycleOptions,
  environment: Environment,
  problems: ProblemList,
): BatchingConfiguration {
  const { delivery } = options;
  const resolve = (name: keyof BatchingConfiguration, variable: string | undefined, range: Range): number =>
    resolveNumber(
      [
        { path: `delivery.${name}`, value: delivery?.[name] },
        ...(variable === undefined ? [] : [{ path: variable, value: environment[variable] }]),
      ],
      range,
      DEFAULTS[name],
      problems,
    );
  const maxBufferedEvents = resolve("maxBufferedEvents", "OTEL_BLRP_MAX_QUEUE_SIZE", COUNT);
  return {
    maxBufferedEvents,
    maxBufferedBytes: resolve("maxBufferedBytes", undefined, BYTES),
    // A batch can never be larger than what waits, so a smaller buffer makes smaller batches.
    maxBatchSize: Math.min(maxBufferedEvents, resolve("maxBatchSize", "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", COUNT)),
    scheduledDelayMs: resolve("scheduledDelayMs", "OTEL_BLRP_SCHEDULE_DELAY", DURATION_OR_ZERO),
    maxConcurrentExports: resolve("maxConcurrentExports", undefined, { least: 1, most: 64 }),
    exportTimeoutMs: resolve("exportTimeoutMs", "OTEL_BLRP_EXPORT_TIMEOUT", DURATION),
  };
}

const SHORTEST_HEARTBEAT_MS = 10;

function resolveHeartbeat(options: LifecycleOptions, problems: ProblemList): number {
  if (options.heartbeatIntervalMs === 0) return 0;
  return resolveNumber(
    [{ path: "heartbeatIntervalMs", value: options.heartbeatIntervalMs }],
    { least: SHORTEST_HEARTBEAT_MS, most: MAX_TIMER_MS },
    DEFAULTS.heartbeatIntervalMs,
    problems,
  );
}

/** One line for a diagnostic. */
export function describeProblem(problem: ConfigurationProblem): string {
  return cutText(`${problem.path} ${problem.rule}`, 200);
}
