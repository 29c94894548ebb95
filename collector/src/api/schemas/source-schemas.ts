import { SUPPORT_LEVELS } from "@agent-lifecycle/proto";
import {
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

const STATEMENT = objectOf({
  snapshotId: TEXT,
  sourceEpoch: TEXT,
  observedAt: described(TIME, "When the authority looked, by its own clock."),
  complete: described(FLAG, "Whether its silence about a child says something."),
  covered: described(nullable(COUNT), "Children that it speaks for; null: all of the source."),
  listed: described(COUNT, "Children that it names."),
});

const AUTHORITY = objectOf(
  {
    id: TEXT,
    kind: TEXT,
    supportLevel: oneOf(SUPPORT_LEVELS),
    answers: COUNT,
    failures: COUNT,
    failuresInARow: COUNT,
    lastAnsweredAt: nullable(TIME),
    lastFailedAt: nullable(TIME),
    lastFailure: described(nullable(TEXT), "Why the last question came to nothing; null after an answer."),
    inFlightSince: nullable(TIME),
    nextDueAt: described(nullable(TIME), "null while a question is on its way."),
    statement: described(nullable(STATEMENT), "What it said last."),
  },
  "Who can be relied on to know all children of a source, and how asking goes.",
);

const ADAPTER = objectOf(
  {
    address: described(TEXT, "Without credentials."),
    connection: objectOf({
      state: oneOf(["connecting", "connected", "disconnected", "stopped"]),
      since: nullable(TIME),
      count: COUNT,
      lastEnd: nullable(objectOf({ at: TIME, kind: TEXT, text: TEXT })),
    }),
    epoch: described(nullable(TEXT), "Names the run of the system that is observed."),
    features: nullable({ type: "object", additionalProperties: { type: ["boolean", "string"] } }),
    capabilities: nullable(named("Capabilities")),
    lastLookAt: nullable(TIME),
    lastFailure: nullable(objectOf({ at: TIME, text: TEXT })),
    runningChildren: COUNT,
    attachedSessions: COUNT,
    eventsStored: COUNT,
    eventsRefused: COUNT,
    snapshotsStored: COUNT,
    problems: { type: "object", additionalProperties: COUNT },
  },
  "An adapter to a system that does not speak this protocol: how it is connected, and what it can see there.",
);

const VISIBILITY = objectOf(
  {
    contract: {
      type: "object",
      additionalProperties: true,
      description: "The document of proto/schema/visibility-contract.v1.schema.json.",
    },
    declaredAt: TIME,
    mismatches: listOf(objectOf({ path: TEXT, text: TEXT, count: COUNT, firstSeenAt: TIME, lastSeenAt: TIME })),
  },
  "What was declared of how the source can be seen, and in what it differs from what is seen.",
);

const SOURCE = partlyOf(
  {
    source: TEXT,
    children: described(COUNT, "Of any state, ended ones included."),
    authority: described(nullable(named("Authority")), "null: nobody answers for the source (contract S6)."),
    adapter: described(nullable(named("Adapter")), "null: its producers report by themselves."),
    visibility: described(named("Visibility"), "Absent: nothing was declared."),
  },
  ["source", "children", "authority", "adapter"],
);

/** What is said of sources, by name. */
export const SOURCE_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Authority: AUTHORITY,
  Adapter: ADAPTER,
  Visibility: VISIBILITY,
  Source: SOURCE,
  Sources: objectOf({ sources: listOf(named("Source")) }),
};
