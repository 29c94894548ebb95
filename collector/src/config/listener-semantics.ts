import type { CollectorConfiguration, Endpoint, ListenerConfiguration, TlsConfiguration } from "./configuration.ts";
import { isLoopback } from "./loopback.ts";
import type { ConfigurationPath, ConfigurationProblem } from "./problem.ts";

interface PlacedListener extends Omit<ListenerConfiguration, "tls"> {
  readonly path: ConfigurationPath;
  readonly tls: TlsConfiguration | undefined;
  /** Whether everything that it takes or tells needs a grant. */
  readonly isGuarded: boolean;
  /** The options that would give them. */
  readonly tokenOptions: string;
}

/** Whether any server that runs lets clients show certificates. */
export function asksForCertificates(configuration: CollectorConfiguration): boolean {
  return listenersOf(configuration).some(({ tls }) => tls?.clientCaFile !== undefined);
}

/** What is wrong with where the servers that run listen, and who can reach them there. */
export function listenerProblems(configuration: CollectorConfiguration): readonly ConfigurationProblem[] {
  const listeners = listenersOf(configuration);
  return [
    ...listeners.flatMap(({ path, endpoint }) => portProblem([...path, "endpoint"], endpoint)),
    ...listeners.flatMap((listener, index) => collision(listener, listeners.slice(0, index))),
    ...(configuration.access.insecurePublicBind ? [] : listeners.flatMap(exposure)),
  ];
}

function listenersOf({ receivers, api, access, service }: CollectorConfiguration): readonly PlacedListener[] {
  const grants = [...access.tokens, ...access.certificates];
  const hasScope = (scope: "ingest" | "read"): boolean => grants.some(({ scopes }) => scopes.includes(scope));
  const ingest = { isGuarded: hasScope("ingest"), tokenOptions: "--ingest-token" };
  // The API's listener takes evidence too: reading and writing both need their token.
  const both = {
    isGuarded: hasScope("ingest") && hasScope("read"),
    tokenOptions: "--read-token and --ingest-token",
  };
  const protocols = service.receivers.includes("otlp") ? receivers.otlp?.protocols : undefined;
  const { http = null, grpc = null } = protocols ?? {};
  const path = ["receivers", "otlp", "protocols"];
  return [
    ...(http === null ? [] : [{ ...http, ...ingest, path: [...path, "http"] }]),
    ...(grpc === null ? [] : [{ ...grpc, ...ingest, path: [...path, "grpc"] }]),
    { ...api, ...both, path: ["api"] },
  ];
}

function portProblem(path: ConfigurationPath, { port }: Endpoint): readonly ConfigurationProblem[] {
  if (Number.isSafeInteger(port) && port >= 0 && port <= 65_535) return [];
  return [{ path, text: `is no port: ${port}` }];
}

function collision(
  { path, endpoint }: PlacedListener,
  earlier: readonly PlacedListener[],
): readonly ConfigurationProblem[] {
  if (endpoint.port === 0) return [];
  const other = earlier.find((listener) => overlaps(listener.endpoint, endpoint));
  if (other === undefined) return [];
  const text = `${endpoint.host}:${endpoint.port} is taken by ${other.path.join(".")}`;
  return [{ path: [...path, "endpoint"], text }];
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

function overlaps(one: Endpoint, other: Endpoint): boolean {
  if (one.port !== other.port) return false;
  return one.host === other.host || EVERY_ADDRESS.has(one.host) || EVERY_ADDRESS.has(other.host);
}

function exposure({ path, endpoint, tls, isGuarded, tokenOptions }: PlacedListener): readonly ConfigurationProblem[] {
  if (isLoopback(endpoint.host) || isGuarded || tls?.clientCaFile !== undefined) return [];
  const text =
    `${endpoint.host} is reachable by others without a token: set ${tokenOptions}, or say --insecure-public-bind ` +
    "if that is meant (in a file: access.tokens, tls.client_ca_file, or access.insecure_public_bind)";
  return [{ path: [...path, "endpoint"], text }];
}
