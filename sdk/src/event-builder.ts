import {
  type Capabilities,
  type Details,
  type EventKind,
  formatTimestamp,
  type LifecycleEvent,
  type Lineage,
  SCHEMA_VERSION,
  type State,
} from "@agent-lifecycle/proto";

/** What all events of one child share. Trimmed and redacted when the child began. */
export interface ChildIdentity {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly childId: string;
  readonly lineage: Lineage;
}

/** What one event adds. Texts are redacted and bounded. */
export interface Observation {
  readonly kind: EventKind;
  readonly state: State | undefined;
  readonly activity: string | undefined;
  readonly details: Details | undefined;
  readonly capabilities: Capabilities;
}

/**
 * Puts an event together that is normalized by construction, so that it needs no validation on the way out: a test
 * compares it with what `normalizeEvent` makes of it.
 */
export function buildEvent(
  { source, sourceEpoch, childId, lineage }: ChildIdentity,
  { kind, state, activity, details, capabilities }: Observation,
  eventId: string,
  sequence: number,
  observedAtMs: number,
): LifecycleEvent {
  const event: { -readonly [Member in keyof LifecycleEvent]: unknown } = {
    schemaVersion: SCHEMA_VERSION,
    eventId,
    source,
    sourceEpoch,
    childId,
    lineage,
    kind,
    observedAt: formatTimestamp(observedAtMs),
    sequence,
    capabilities,
  };
  // Assigned one by one: spreading optional members costs more than all the rest of a heartbeat.
  if (state !== undefined) event.state = state;
  if (activity !== undefined) event.activity = activity;
  if (details !== undefined) event.details = details;
  return event as LifecycleEvent;
}
