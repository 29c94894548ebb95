import { canonicalJson } from "./canonical.ts";
import { CAPABILITY_NAMES, type CapabilityName } from "./capabilities.ts";
import type { EventKind, LifecycleEvent } from "./event.ts";
import { isTimestampRepresentableInOtlp } from "./otlp-time.ts";

/** Instrumentation scope of every lifecycle record. */
export const SCOPE_NAME = "agent-lifecycle";

/** What `EventName` begins with; the kind follows. */
export const EVENT_NAME_PREFIX = "agent_lifecycle.";

/** Names of the log record attributes. They are public: queries, dashboards and pipelines name them. */
export const ATTRIBUTES = {
  schemaVersion: "agent_lifecycle.schema_version",
  eventId: "agent_lifecycle.event_id",
  source: "agent_lifecycle.source",
  sourceEpoch: "agent_lifecycle.source_epoch",
  childId: "agent_lifecycle.child_id",
  rootChildId: "agent_lifecycle.root_child_id",
  parentChildId: "agent_lifecycle.parent_child_id",
  attempt: "agent_lifecycle.attempt",
  external: "agent_lifecycle.external",
  adoptedAt: "agent_lifecycle.adopted_at",
  state: "agent_lifecycle.state",
  sequence: "agent_lifecycle.sequence",
  activity: "agent_lifecycle.activity",
  details: "agent_lifecycle.details",
  /** Only for a time that OTLP's unsigned nanoseconds cannot hold; otherwise the record's Timestamp is the time. */
  observedAt: "agent_lifecycle.observed_at",
  capabilityHistory: "agent_lifecycle.capability.history",
  capabilityHeartbeat: "agent_lifecycle.capability.heartbeat",
  capabilitySnapshot: "agent_lifecycle.capability.snapshot",
  capabilityCancel: "agent_lifecycle.capability.cancel",
  capabilityTerminalCause: "agent_lifecycle.capability.terminal_cause",
  /** `true` on a record that was kept somewhere and is sent late, as from a spool: old evidence (S1). */
  backfill: "agent_lifecycle.backfill",
  /** The event id again, under the name by which back ends remove duplicates. */
  logRecordUid: "log.record.uid",
  /** EventName again, for back ends that drop the field. */
  eventName: "event_name",
  genAiAgentName: "gen_ai.agent.name",
  genAiToolName: "gen_ai.tool.name",
  errorType: "error.type",
  processExitCode: "process.exit.code",
} as const;

Object.freeze(ATTRIBUTES);

/** The attribute that says a capability is known; its value is the text `known`. */
export const CAPABILITY_ATTRIBUTES: Readonly<Record<CapabilityName, string>> = Object.freeze({
  history: ATTRIBUTES.capabilityHistory,
  heartbeat: ATTRIBUTES.capabilityHeartbeat,
  snapshot: ATTRIBUTES.capabilitySnapshot,
  cancel: ATTRIBUTES.capabilityCancel,
  terminalCause: ATTRIBUTES.capabilityTerminalCause,
});

export type AttributeValue = string | number | boolean;

/** `agent_lifecycle.<kind>`: one of seven names, so it fits a label. */
export function eventName(kind: EventKind): string {
  return EVENT_NAME_PREFIX + kind;
}

/**
 * The log record attributes of an event: flat and scalar, so that every back end keeps them as they are.
 * Numbers are integers within ±2^53. Members the event does not have are absent.
 */
export function attributesOf(event: LifecycleEvent): Record<string, AttributeValue> {
  const { lineage, capabilities, details } = event;
  const attributes: Record<string, AttributeValue> = {
    [ATTRIBUTES.schemaVersion]: event.schemaVersion,
    [ATTRIBUTES.eventId]: event.eventId,
    [ATTRIBUTES.logRecordUid]: event.eventId,
    [ATTRIBUTES.eventName]: eventName(event.kind),
    [ATTRIBUTES.source]: event.source,
    [ATTRIBUTES.sourceEpoch]: event.sourceEpoch,
    [ATTRIBUTES.childId]: event.childId,
    [ATTRIBUTES.rootChildId]: lineage.rootChildId,
    [ATTRIBUTES.attempt]: lineage.attempt,
    [ATTRIBUTES.external]: lineage.external,
  };
  if (lineage.parentChildId !== undefined) attributes[ATTRIBUTES.parentChildId] = lineage.parentChildId;
  if (lineage.adoptedAt !== undefined) attributes[ATTRIBUTES.adoptedAt] = lineage.adoptedAt;
  if (event.state !== undefined) attributes[ATTRIBUTES.state] = event.state;
  if (event.sequence !== undefined) attributes[ATTRIBUTES.sequence] = event.sequence;
  if (event.activity !== undefined) attributes[ATTRIBUTES.activity] = event.activity;
  if (!isTimestampRepresentableInOtlp(event.observedAt)) attributes[ATTRIBUTES.observedAt] = event.observedAt;
  for (const name of CAPABILITY_NAMES) {
    if (capabilities[name] === "known") attributes[CAPABILITY_ATTRIBUTES[name]] = "known";
  }
  if (details !== undefined) {
    attributes[ATTRIBUTES.details] = canonicalJson(details);
    if (details.name !== undefined) attributes[ATTRIBUTES.genAiAgentName] = details.name;
    if (details.tool !== undefined) attributes[ATTRIBUTES.genAiToolName] = details.tool;
    if (details.exitCode !== undefined) attributes[ATTRIBUTES.processExitCode] = details.exitCode;
    if (details.cause !== undefined && (event.state === "failed" || event.state === "lost")) {
      attributes[ATTRIBUTES.errorType] = details.cause;
    }
  }
  return attributes;
}
