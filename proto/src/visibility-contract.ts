import type { CapabilityKnowledge, CapabilityName } from "./capabilities.ts";
import { type Details, sanitizeDetails } from "./details.ts";
import { validVisibilityContract } from "./generated/validators.ts";
import { isJsonObject } from "./json.ts";
import { redactIdentifier, redactText } from "./redact.ts";
import { firstProblem } from "./validator.ts";

export type VisibilityCapability = CapabilityName | "activity";

/**
 * What whoever launches a child states beforehand about how it can be seen, so that a display need not guess and a
 * collector can compare (`proto/schema/visibility-contract.v1.schema.json`). What is not known is stated as unknown.
 */
export interface VisibilityContract {
  readonly contractVersion: 1;
  readonly source: string;
  readonly sourceEpoch: string;
  /** What observes the child and owns its source. */
  readonly adapter: { readonly name: string; readonly version?: string };
  /** When the source's sequence space begins anew. */
  readonly epochPolicy: "new_for_each_start" | "stated_by_host" | "unknown";
  /** The child, where the contract is about one. */
  readonly child?: {
    readonly childId: string;
    readonly rootChildId: string;
    readonly parentChildId?: string;
    readonly attempt: number;
  };
  readonly capabilities: Readonly<Record<VisibilityCapability, CapabilityKnowledge>>;
  readonly events: {
    readonly transport: "otlp" | "jsonl" | "host" | "exporter" | "none";
    /** A URL without credentials, or a path. */
    readonly endpoint?: string;
    readonly sequence: "per_child" | "none" | "unknown";
    readonly heartbeatIntervalMs?: number;
    /** Where secrets are taken out first. */
    readonly redaction: "before_emission" | "at_collector" | "unknown";
  };
  readonly snapshot: {
    readonly authority: "none" | "pull" | "push" | "unknown";
    readonly endpoint?: string;
    /** What comes after the way to the collector was interrupted. */
    readonly reconnect: "replays_in_order" | "resumes_live" | "unknown";
    /** Complete snapshots in a row without the child before it counts as missing (A6). */
    readonly omissionGrace?: number;
  };
  readonly loss: {
    /** Evidence that is required before stale may become lost (S6); none: it never does. */
    readonly requires: readonly ("promised_heartbeats_missing" | "authority_unreachable" | "authoritative_omission")[];
    readonly staleAfterMs?: number;
  };
  /** Carried and shown; nothing depends on it. */
  readonly details?: Details;
}

export type NormalizedVisibilityContract =
  | { readonly ok: true; readonly contract: VisibilityContract }
  | { readonly ok: false; readonly path: string; readonly text: string };

/** Turns anything into a valid, redacted, bounded contract, or says which member is wrong. Never throws. */
export function normalizeVisibilityContract(raw: unknown): NormalizedVisibilityContract {
  if (!isJsonObject(raw)) return { ok: false, path: "", text: "a visibility contract is a JSON object" };
  if (!validVisibilityContract(raw)) return { ok: false, ...firstProblem(validVisibilityContract) };
  const stated = raw as unknown as VisibilityContract;
  const { adapter, child, capabilities, events, snapshot, loss } = stated;
  const details = stated.details === undefined ? undefined : sanitizeDetails(stated.details).details;
  // Member by member: what the schema does not name does not pass.
  return {
    ok: true,
    contract: {
      contractVersion: 1,
      source: redactIdentifier(stated.source.trim()),
      sourceEpoch: redactIdentifier(stated.sourceEpoch.trim()),
      adapter: {
        name: redactIdentifier(adapter.name),
        ...(adapter.version === undefined ? undefined : { version: redactIdentifier(adapter.version) }),
      },
      epochPolicy: stated.epochPolicy,
      ...(child === undefined ? undefined : { child: normalizedChild(child) }),
      capabilities: {
        activity: capabilities.activity,
        heartbeat: capabilities.heartbeat,
        snapshot: capabilities.snapshot,
        cancel: capabilities.cancel,
        history: capabilities.history,
        terminalCause: capabilities.terminalCause,
      },
      events: {
        transport: events.transport,
        ...endpointOf(events.endpoint),
        sequence: events.sequence,
        ...(events.heartbeatIntervalMs === undefined ? undefined : { heartbeatIntervalMs: events.heartbeatIntervalMs }),
        redaction: events.redaction,
      },
      snapshot: {
        authority: snapshot.authority,
        ...endpointOf(snapshot.endpoint),
        reconnect: snapshot.reconnect,
        ...(snapshot.omissionGrace === undefined ? undefined : { omissionGrace: snapshot.omissionGrace }),
      },
      loss: {
        requires: [...loss.requires],
        ...(loss.staleAfterMs === undefined ? undefined : { staleAfterMs: loss.staleAfterMs }),
      },
      ...(details === undefined ? undefined : { details }),
    },
  };
}

function normalizedChild(child: NonNullable<VisibilityContract["child"]>): NonNullable<VisibilityContract["child"]> {
  const { childId, rootChildId, parentChildId, attempt } = child;
  return {
    childId: redactIdentifier(childId),
    rootChildId: redactIdentifier(rootChildId),
    ...(parentChildId === undefined ? undefined : { parentChildId: redactIdentifier(parentChildId) }),
    attempt,
  };
}

function endpointOf(endpoint: string | undefined): { readonly endpoint?: string } {
  return endpoint === undefined ? {} : { endpoint: redactText(endpoint) };
}
