import { DIAGNOSTIC_CODES, STATES } from "@agent-lifecycle/proto";
import { INPUT_STATUSES } from "../../core/index.ts";
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

const NEXT_CURSOR = described(nullable(TEXT), "Pass as cursor for the next page; null at the end.");
const POSITION = described(COUNT, "Id of the newest input that the answer takes in: a stream after it misses nothing.");
const BY_STATE = objectOf(Object.fromEntries(STATES.map((state) => [state, COUNT])));

const SUMMARY = objectOf(
  {
    started: COUNT,
    live: COUNT,
    byState: BY_STATE,
    stale: COUNT,
    provisional: COUNT,
    stateUnknown: described(COUNT, "Children heard of without any state; they are not rows."),
    evidenceSeen: described(FLAG, "false until any evidence source was ever seen (D2)."),
    position: POSITION,
    at: described(TIME, "The collector's clock."),
  },
  "The counts always add up: started = live + completed + failed + cancelled + lost.",
);

const INPUT = objectOf({
  inputId: COUNT,
  type: oneOf(["event", "snapshot", "stale", "reconciliation", "resumed"]),
  at: described(TIME, "When the collector took it."),
  backfill: FLAG,
  status: described(oneOf(INPUT_STATUSES), "What became of it (contract, section 3)."),
  diagnostic: nullable(TEXT),
  event: nullable(named("Event")),
});

const AUDIT_ENTRY = objectOf({
  inputId: COUNT,
  reason: oneOf(["authoritative_snapshot", "failed_reconciliation", "epoch_changed"]),
  source: TEXT,
  childId: TEXT,
  from: nullable(TEXT),
  to: TEXT,
  at: TIME,
  snapshotId: nullable(TEXT),
});

const DIAGNOSTIC = partlyOf(
  {
    id: COUNT,
    at: TIME,
    receiver: TEXT,
    source: nullable(TEXT),
    childId: nullable(TEXT),
    code: oneOf(DIAGNOSTIC_CODES),
    path: TEXT,
    text: TEXT,
  },
  ["id", "at", "receiver", "source", "childId", "code"],
  "Something that was refused or tolerated. Texts are redacted and bounded.",
);

const USAGE_ROLLUP = objectOf(
  {
    inputTokens: nullable(COUNT),
    outputTokens: nullable(COUNT),
    costUsd: nullable(AMOUNT),
    toolCalls: nullable(COUNT),
    reported: COUNT,
    members: COUNT,
  },
  "Sums of what was reported; null is not zero: nobody reported it.",
);

const AGENT = objectOf(
  {
    depth: COUNT,
    attempts: described(listOf(named("Child")), "In the order of their attempts; never empty."),
    isParentMissing: FLAG,
    descendants: COUNT,
    liveDescendants: described(COUNT, "Children below it that have not ended, whether or not it has."),
    usage: named("UsageRollup"),
  },
  "One agent of a tree.",
);

const TIMELINE_ENTRY = objectOf({
  source: TEXT,
  childId: TEXT,
  name: nullable(TEXT),
  lineage: named("Lineage"),
  firstObservedAt: TIME,
  intervals: listOf(
    objectOf({
      state: oneOf(STATES),
      from: TIME,
      to: nullable(TIME),
      recordedAt: described(TIME, "When the collector learned of it."),
      by: oneOf(["event", "authoritative_snapshot", "failed_reconciliation"]),
      isProvisional: FLAG,
      isInferred: FLAG,
    }),
  ),
  stale: listOf(objectOf({ from: TIME, to: nullable(TIME), reason: oneOf(["deadline", "snapshot_omission"]) })),
  activities: listOf(objectOf({ at: TIME, recordedAt: TIME, text: nullable(TEXT) })),
  marks: listOf(
    objectOf({
      at: TIME,
      recordedAt: TIME,
      kind: oneOf(["gap", "gap_filled", "correction", "epoch_changed", "late", "conflict", "out_of_order", "rejected"]),
      text: TEXT,
    }),
  ),
  isCut: described(FLAG, "More is stored about the child than is looked at here."),
});

/** Bodies of answers, by name. */
export const ANSWER_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Summary: SUMMARY,
  ChildrenPage: objectOf(
    { children: listOf(named("Child")), position: POSITION, nextCursor: NEXT_CURSOR },
    "Children that have a state, newest first.",
  ),
  Input: INPUT,
  InputsPage: objectOf({ inputs: listOf(named("Input")), nextCursor: NEXT_CURSOR }, "Oldest first."),
  AuditEntry: AUDIT_ENTRY,
  AuditPage: objectOf({ audit: listOf(named("AuditEntry")), nextCursor: NEXT_CURSOR }, "Oldest first."),
  Diagnostic: DIAGNOSTIC,
  DiagnosticsPage: objectOf({ diagnostics: listOf(named("Diagnostic")), nextCursor: NEXT_CURSOR }, "Newest first."),
  Sources: objectOf({ sources: listOf(objectOf({ source: TEXT, children: COUNT })) }),
  UsageRollup: USAGE_ROLLUP,
  Agent: AGENT,
  Tree: objectOf(
    {
      rootChildId: TEXT,
      position: POSITION,
      members: COUNT,
      live: COUNT,
      byState: BY_STATE,
      usage: named("UsageRollup"),
      agents: described(listOf(named("Agent")), "Parents before their children."),
      isCut: described(FLAG, "There are more members than are listed, and the sums are of those listed."),
    },
    "Everything that goes back to one root.",
  ),
  TimelineEntry: TIMELINE_ENTRY,
  TimelinePage: objectOf({ timeline: listOf(named("TimelineEntry")), position: POSITION, nextCursor: NEXT_CURSOR }),
  Resync: objectOf({ position: COUNT }),
  Problem: {
    type: "object",
    description: "Why a request was refused (RFC 9457).",
    additionalProperties: true,
    required: ["type", "title", "status", "detail"],
    properties: { type: TEXT, title: TEXT, status: { type: "integer" }, detail: TEXT },
  },
};
