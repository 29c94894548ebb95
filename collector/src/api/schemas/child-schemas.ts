import { CAPABILITY_NAMES, EVENT_KINDS, STATES, WAITING_KINDS } from "@agent-lifecycle/proto";
import {
  AMOUNT,
  COUNT,
  described,
  FLAG,
  type JsonSchema,
  listOf,
  named,
  nullable,
  objectOf,
  oneOf,
  partlyOf,
  TEXT,
  TIME,
} from "./schema-terms.ts";

const LINEAGE = partlyOf(
  { rootChildId: TEXT, attempt: COUNT, external: FLAG, parentChildId: TEXT, adoptedAt: TIME },
  ["rootChildId", "attempt", "external"],
  "Where a child stands among the others. A retry keeps rootChildId and counts attempt up.",
);

const CAPABILITIES = objectOf(
  Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, oneOf(["known", "unknown"])])),
  "What its source is known to offer; unknown is not no (D4).",
);

const FACTS = partlyOf(
  {
    name: TEXT,
    agentType: TEXT,
    model: TEXT,
    routingProfile: TEXT,
    tool: TEXT,
    waitingOn: partlyOf({ kind: oneOf(WAITING_KINDS), childId: TEXT, text: TEXT }, ["kind"]),
    cause: TEXT,
    exitCode: { type: "integer" },
    signal: TEXT,
    usage: partlyOf({ inputTokens: COUNT, outputTokens: COUNT, costUsd: AMOUNT, toolCalls: COUNT }, []),
    transcriptRef: described(TEXT, "A reference, never content."),
    resultRef: described(TEXT, "A reference, never content."),
    pid: COUNT,
    host: TEXT,
    cancelRequestedAt: described(TIME, "A request changes no state (D5)."),
  },
  [],
  "What its source said of it. None of it is identity or state.",
);

const CHILD = objectOf(
  {
    source: TEXT,
    childId: TEXT,
    lineage: named("Lineage"),
    capabilities: named("Capabilities"),
    state: described(oneOf([...STATES, null]), "null until a state was reported."),
    stateAt: described(nullable(TIME), "When its source saw the state begin."),
    stateInferred: described(FLAG, "The source implied the state and did not report it."),
    stateEvidence: described(
      oneOf(["event", "authoritative_snapshot", "failed_reconciliation", null]),
      "What the state rests on.",
    ),
    terminalEvidence: oneOf(["event", "authoritative_snapshot", "failed_reconciliation", null]),
    activity: nullable(TEXT),
    activityAt: nullable(TIME),
    heartbeatAt: nullable(TIME),
    facts: named("Facts"),
    provisional: described(FLAG, "The record rests on something that is missing."),
    missing: listOf(oneOf(["sequence_gap", "epoch_gap", "beginning"])),
    stale: nullable(objectOf({ since: TIME, reason: oneOf(["deadline", "snapshot_omission"]) })),
    reconciliation: nullable(objectOf({ requestedAt: TIME, deadline: TIME })),
    misses: described(COUNT, "Complete snapshots in a row that did not list it."),
    history: oneOf(["complete", "from_adoption", "partial"]),
    firstObservedAt: TIME,
    lastObservedAt: TIME,
    lastEvidenceAt: described(TIME, "Alive: the newest accepted evidence, on the collector's clock."),
    lastProgressAt: described(TIME, "Progress: the newest state or activity, on the collector's clock."),
    sourceEpoch: TEXT,
    highestSequence: nullable(COUNT),
    gaps: described(listOf({ type: "array", items: COUNT, minItems: 2, maxItems: 2 }), "Missing sequences, inclusive."),
    conflicts: COUNT,
    corrections: COUNT,
    outOfOrder: COUNT,
    lateEvidence: described(
      nullable(objectOf({ count: COUNT, lastObservedAt: TIME, lastState: oneOf([...STATES, null]) })),
      "Claims after the end; they changed nothing.",
    ),
  },
  "One child, as the projection knows it: a fact or its absence, never a guess.",
);

const EVENT = partlyOf(
  {
    schemaVersion: { const: 1 },
    eventId: TEXT,
    source: TEXT,
    sourceEpoch: TEXT,
    childId: TEXT,
    lineage: named("Lineage"),
    kind: oneOf(EVENT_KINDS),
    state: oneOf(STATES),
    observedAt: TIME,
    sequence: COUNT,
    activity: TEXT,
    details: { type: "object", additionalProperties: true },
    capabilities: named("Capabilities"),
  },
  ["schemaVersion", "eventId", "source", "sourceEpoch", "childId", "lineage", "kind", "observedAt", "capabilities"],
  "A lifecycle event, normalized and redacted.",
);

/** What is said of children, by name. */
export const CHILD_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Lineage: LINEAGE,
  Capabilities: CAPABILITIES,
  Facts: FACTS,
  Child: CHILD,
  Event: EVENT,
};
