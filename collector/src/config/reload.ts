import { isDeepStrictEqual } from "node:util";
import type { CollectorConfiguration, ListenerConfiguration, TlsConfiguration } from "./configuration.ts";
import { isPlain } from "./overlay.ts";

/** What a new configuration comes to in a collector that runs. Members are named by their path, in the spelling of a file. */
export interface ReloadPlan {
  /** What differs and can be put in force at once. */
  readonly applied: readonly string[];
  /** What differs and waits for the next start. */
  readonly needsRestart: readonly string[];
  /** What is in force after the reload: the current configuration with what can be applied of the new one. */
  readonly configuration: CollectorConfiguration;
}

/**
 * Says what of a new configuration a running collector can take: tokens and what client certificates may do, the files of certificates, the level of its
 * log, what retention may delete, and the rate of requests. All else stays as it is until the next start: it holds
 * sockets, memory or the watch for silence in its shape.
 */
export function planReload(current: CollectorConfiguration, next: CollectorConfiguration): ReloadPlan {
  const configuration = withReloadable(current, next);
  return {
    applied: differences(current, configuration),
    needsRestart: differences(configuration, next),
    configuration,
  };
}

function withReloadable(current: CollectorConfiguration, next: CollectorConfiguration): CollectorConfiguration {
  return {
    ...current,
    receivers: withOtlpCertificates(current, next),
    api: withCertificates(current.api, next.api),
    storage: {
      ...current.storage,
      retention: { ...next.storage.retention, intervalMs: current.storage.retention.intervalMs },
    },
    access: { ...current.access, ...grantsFor(current, next) },
    limits: { ...current.limits, requestsPerSecond: next.limits.requestsPerSecond },
    service: {
      ...current.service,
      telemetry: { logs: { level: next.service.telemetry.logs.level } },
    },
  };
}

type Grants = Pick<CollectorConfiguration["access"], "tokens" | "certificates">;

/** A listener that others reach, as it runs now, must not lose the last grant that guards it. */
function grantsFor(current: CollectorConfiguration, next: CollectorConfiguration): Grants {
  const listenersMove = !isDeepStrictEqual(endpointsOf(current), endpointsOf(next));
  const scopes = (["ingest", "read"] as const).filter((scope) => has(current, scope) && !has(next, scope));
  const { tokens, certificates } = listenersMove && scopes.length > 0 ? current.access : next.access;
  return { tokens, certificates };
}

function has({ access }: CollectorConfiguration, scope: "ingest" | "read"): boolean {
  return [...access.tokens, ...access.certificates].some(({ scopes }) => scopes.includes(scope));
}

function endpointsOf({ receivers, api, access }: CollectorConfiguration): unknown {
  const { http, grpc } = receivers.otlp?.protocols ?? {};
  const guards = [http, grpc, api].map((listener) => [listener?.endpoint, listener?.tls?.clientCaFile]);
  return [guards, access.insecurePublicBind];
}

function withOtlpCertificates(
  { receivers }: CollectorConfiguration,
  next: CollectorConfiguration,
): CollectorConfiguration["receivers"] {
  const nextProtocols = next.receivers.otlp?.protocols;
  if (receivers.otlp === undefined || nextProtocols === undefined) return receivers;
  const { http, grpc } = receivers.otlp.protocols;
  const protocols = {
    http: http && withCertificates(http, nextProtocols.http),
    grpc: grpc && withCertificates(grpc, nextProtocols.grpc),
  };
  return { ...receivers, otlp: { protocols } };
}

/** Other files, where there are files already: a listener neither begins nor ceases to speak TLS or to ask for certificates. */
function withCertificates<Listener extends ListenerConfiguration>(
  current: Listener,
  next: ListenerConfiguration | null,
): Listener {
  const tls = next?.tls;
  if (current.tls === undefined || tls === undefined || asksClients(current.tls) !== asksClients(tls)) return current;
  return { ...current, tls: { ...tls, reloadIntervalMs: current.tls.reloadIntervalMs } };
}

function asksClients({ clientCaFile }: TlsConfiguration): boolean {
  return clientCaFile !== undefined;
}

function differences(one: unknown, other: unknown, path: readonly string[] = []): readonly string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isPlain(one) || !isPlain(other) || path.at(-1) === "options") return [path.map(fileName).join(".")];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].flatMap((name) => differences(one[name], other[name], [...path, name]));
}

/** `maxAgeMs` is `max_age` in a file; ids of components are the same in both. */
function fileName(member: string): string {
  if (member.includes("/")) return member;
  return member.replace(/(?:Ms|Bytes)$/, "").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
