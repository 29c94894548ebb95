import { normalizeVisibilityContract, type VisibilityContract } from "@agent-lifecycle/proto";
import type { Configuration } from "./configuration.ts";
import type { Environment } from "./configuration-otlp.ts";
import { SDK_VERSION } from "./version.ts";

/** What a host knows of its own visibility that the SDK cannot. Everything has a default that claims nothing. */
export interface VisibilityOptions {
  /** What observes the children. Default: this SDK. */
  readonly adapter?: VisibilityContract["adapter"];
  /** What the source offers beside what the SDK itself does. Default: unknown. */
  readonly capabilities?: Partial<VisibilityContract["capabilities"]>;
  /** Who can state a snapshot of the children. Default: none. */
  readonly snapshot?: Partial<VisibilityContract["snapshot"]>;
  /** What stale may become lost by. Default: missing heartbeats where they are sent, else nothing. */
  readonly loss?: Partial<VisibilityContract["loss"]>;
  /** Carried and shown: a model, a routing profile, who owns the task. Nothing depends on it. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The child that a contract is about. */
export type VisibilityChild = NonNullable<VisibilityContract["child"]>;

export const VISIBILITY_VARIABLE = "AGENT_LIFECYCLE_VISIBILITY_CONTRACT";

/**
 * The visibility contract that the configuration in force amounts to. What a host states that is no contract is left
 * out, and `onProblem` hears of it.
 */
export function visibilityContractOf(
  configuration: Configuration,
  sourceEpoch: string,
  child: VisibilityChild | undefined,
  stated: VisibilityOptions,
  onProblem: (path: string, text: string) => void,
): VisibilityContract {
  const plain = plainContract(configuration, sourceEpoch, child);
  const { adapter, snapshot, loss, details } = stated;
  const capabilities = { ...plain.capabilities, ...stated.capabilities };
  const { heartbeatIntervalMs, ...events } = plain.events;
  const beats = capabilities.heartbeat === "known";
  const normalized = normalizeVisibilityContract({
    ...plain,
    adapter: adapter ?? plain.adapter,
    capabilities,
    // A child that sends none promises none.
    events: beats && heartbeatIntervalMs !== undefined ? { ...events, heartbeatIntervalMs } : events,
    snapshot: { ...plain.snapshot, ...snapshot },
    loss: { requires: beats ? plain.loss.requires : [], ...loss },
    ...(details === undefined ? undefined : { details }),
  });
  if (normalized.ok) return normalized.contract;
  onProblem(normalized.path, normalized.text);
  return plain;
}

/** What was declared, by whoever launched this process, of how it can be seen. */
export function inheritedContract(environment: Environment): VisibilityContract | undefined {
  const text = environment[VISIBILITY_VARIABLE];
  if (text === undefined) return undefined;
  try {
    const normalized = normalizeVisibilityContract(JSON.parse(text));
    return normalized.ok ? normalized.contract : undefined;
  } catch {
    return undefined;
  }
}

function plainContract(
  { source, sourceEpoch: statedEpoch, destination, heartbeatIntervalMs }: Configuration,
  sourceEpoch: string,
  child: VisibilityChild | undefined,
): VisibilityContract {
  const { kind } = destination;
  const beats = heartbeatIntervalMs > 0 && kind !== "none";
  const keepsOrder = kind === "jsonl" || ((kind === "otlp" || kind === "exporter") && destination.spool !== undefined);
  return {
    contractVersion: 1,
    source,
    sourceEpoch,
    adapter: { name: "@agent-lifecycle/sdk", version: SDK_VERSION },
    epochPolicy: statedEpoch === undefined ? "new_for_each_start" : "stated_by_host",
    ...(child === undefined ? undefined : { child }),
    capabilities: {
      activity: kind === "none" ? "unknown" : "known",
      heartbeat: beats ? "known" : "unknown",
      snapshot: "unknown",
      cancel: "unknown",
      history: "unknown",
      terminalCause: "unknown",
    },
    events: {
      transport: kind,
      ...endpointOf(destination),
      sequence: "per_child",
      ...(beats ? { heartbeatIntervalMs } : undefined),
      redaction: "before_emission",
    },
    snapshot: { authority: "none", reconnect: keepsOrder ? "replays_in_order" : "unknown" },
    loss: { requires: beats ? ["promised_heartbeats_missing"] : [] },
  };
}

/** Without user, password and query, which may be secrets. */
function endpointOf(destination: Configuration["destination"]): { readonly endpoint?: string } {
  if (destination.kind === "otlp") {
    const { origin, pathname } = new URL(destination.otlp.url);
    return { endpoint: origin + pathname };
  }
  if (destination.kind !== "jsonl") return {};
  const { jsonl } = destination;
  return { endpoint: typeof jsonl === "string" ? jsonl : "path" in jsonl ? jsonl.path : jsonl.journal };
}
