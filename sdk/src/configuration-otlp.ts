import { parseKeyPairsIntoRecord } from "@opentelemetry/core";
import { resolveNumber } from "./configuration-number.ts";
import type { ProblemList } from "./configuration-problem.ts";
import type { LifecycleOptions, OtlpProtocol } from "./options.ts";

/** Environment variables, as `process.env` gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface OtlpConfiguration {
  /** The full URL that batches are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: OtlpProtocol;
  readonly compression: "none" | "gzip";
  readonly requestTimeoutMs: number;
  /** Paths of PEM files; absent: the system's trust store, no client certificate. */
  readonly tls: { readonly ca?: string; readonly certificate?: string; readonly key?: string };
}

/** What holds where nothing is stated. No endpoint: OTLP is not used then. */
export interface OtlpDefaults {
  readonly endpoint: string | undefined;
  readonly requestTimeoutMs: number;
}

const LOGS_PATH = "v1/logs";
const MAX_REQUEST_TIMEOUT_MS = 3_600_000;

/** The OTLP part of the configuration, or `undefined` when there is no (usable) endpoint. */
export function resolveOtlp(
  options: LifecycleOptions,
  environment: Environment,
  problems: ProblemList,
  defaults: OtlpDefaults,
): OtlpConfiguration | undefined {
  const url = resolveUrl(options, environment, problems, defaults);
  if (url === undefined) return undefined;
  return {
    url,
    headers: resolveHeaders(options, environment, problems),
    protocol: resolveProtocol(options, environment, problems),
    compression: resolveCompression(environment, problems),
    requestTimeoutMs: resolveNumber(
      [
        { path: "delivery.requestTimeoutMs", value: options.delivery?.requestTimeoutMs },
        ...specificFirst("TIMEOUT").map((path) => ({ path, value: environment[path] })),
      ],
      { least: 1, most: MAX_REQUEST_TIMEOUT_MS },
      defaults.requestTimeoutMs,
      problems,
    ),
    tls: resolveTls(environment),
  };
}

/** The logs variable wins over the one for all signals. */
function specificFirst(suffix: string): readonly [string, string] {
  return [`OTEL_EXPORTER_OTLP_LOGS_${suffix}`, `OTEL_EXPORTER_OTLP_${suffix}`];
}

function fromEnvironment(environment: Environment, suffix: string): { path: string; value: string } | undefined {
  for (const path of specificFirst(suffix)) {
    const value = environment[path]?.trim();
    if (value !== undefined && value !== "") return { path, value };
  }
  return undefined;
}

function resolveUrl(
  options: LifecycleOptions,
  environment: Environment,
  problems: ProblemList,
  defaults: OtlpDefaults,
): string | undefined {
  if (options.endpoint !== undefined) {
    const url = httpUrl(options.endpoint);
    if (url !== undefined) return withLogsPath(url, "unless there");
    problems.add("endpoint", "must be an http: or https: URL");
    return undefined;
  }
  const stated = fromEnvironment(environment, "ENDPOINT");
  if (stated === undefined) return defaults.endpoint === undefined ? undefined : `${defaults.endpoint}/${LOGS_PATH}`;
  const url = httpUrl(stated.value);
  if (url === undefined) {
    problems.add(stated.path, "must be an http: or https: URL");
    return undefined;
  }
  // The OpenTelemetry rule: the logs endpoint is used as it is, the general one is a base.
  return stated.path === specificFirst("ENDPOINT")[0] ? url.href : withLogsPath(url, "always");
}

function httpUrl(value: unknown): URL | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  return url.protocol === "http:" || url.protocol === "https:" ? url : undefined;
}

function withLogsPath(url: URL, when: "always" | "unless there"): string {
  if (when === "unless there" && url.pathname.endsWith(`/${LOGS_PATH}`)) return url.href;
  const complete = new URL(url);
  complete.pathname = `${url.pathname.replace(/\/$/, "")}/${LOGS_PATH}`;
  return complete.href;
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function resolveHeaders(
  options: LifecycleOptions,
  environment: Environment,
  problems: ProblemList,
): Readonly<Record<string, string>> {
  const [specific, general] = specificFirst("HEADERS");
  const headers = new Map<string, string>();
  const stated: readonly (readonly [string, unknown])[] = [
    [general, parseKeyPairsIntoRecord(environment[general])],
    [specific, parseKeyPairsIntoRecord(environment[specific])],
    ["headers", options.headers ?? {}],
  ];
  for (const [path, pairs] of stated) {
    if (typeof pairs !== "object" || pairs === null) {
      problems.add(path, "must be an object of texts");
      continue;
    }
    for (const [name, value] of Object.entries(pairs)) {
      if (HEADER_NAME.test(name) && typeof value === "string" && HEADER_VALUE.test(value))
        headers.set(name.toLowerCase(), value);
      else problems.add(path, "has a header that HTTP does not allow");
    }
  }
  return Object.fromEntries(headers);
}

function resolveProtocol(options: LifecycleOptions, environment: Environment, problems: ProblemList): OtlpProtocol {
  const fromVariable = fromEnvironment(environment, "PROTOCOL");
  const stated: readonly { readonly path: string; readonly value: unknown }[] = [
    { path: "protocol", value: options.protocol },
    ...(fromVariable === undefined ? [] : [fromVariable]),
  ];
  for (const { path, value } of stated) {
    if (value === undefined) continue;
    if (value === "http/json" || value === "http/protobuf") return value;
    problems.add(path, "must be http/json or http/protobuf");
  }
  return "http/json";
}

function resolveCompression(environment: Environment, problems: ProblemList): "none" | "gzip" {
  const stated = fromEnvironment(environment, "COMPRESSION");
  if (stated === undefined) return "none";
  if (stated.value === "none" || stated.value === "gzip") return stated.value;
  problems.add(stated.path, "must be none or gzip");
  return "none";
}

function resolveTls(environment: Environment): OtlpConfiguration["tls"] {
  const ca = fromEnvironment(environment, "CERTIFICATE")?.value;
  const certificate = fromEnvironment(environment, "CLIENT_CERTIFICATE")?.value;
  const key = fromEnvironment(environment, "CLIENT_KEY")?.value;
  return {
    ...(ca === undefined ? undefined : { ca }),
    ...(certificate === undefined ? undefined : { certificate }),
    ...(key === undefined ? undefined : { key }),
  };
}
