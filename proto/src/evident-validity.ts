import { CAPABILITY_NAMES } from "./capabilities.ts";
import { EVENT_KINDS, type EventKind } from "./event.ts";
import { isJsonObject } from "./json.ts";
import { MAX_IDENTIFIER_LENGTH } from "./limits.ts";
import { isState, isTerminal } from "./state.ts";
import { isCanonicalTimestamp } from "./timestamp.ts";

/** An event whose strings have been trimmed; the members are what they are. */
export interface TrimmedMembers {
  readonly schemaVersion: unknown;
  readonly eventId: unknown;
  readonly source: unknown;
  readonly sourceEpoch: unknown;
  readonly childId: unknown;
  readonly lineage: unknown;
  readonly kind: unknown;
  readonly state: unknown;
  readonly observedAt: unknown;
  readonly sequence: unknown;
  readonly activity: unknown;
  readonly details: unknown;
  readonly capabilities: unknown;
}

/**
 * Whether an event is valid at first sight. Most are: this spares them the schema's validator, which costs ten times
 * as much. `false` decides nothing; only the schema rejects. A test holds that the schema accepts what this accepts.
 */
export function isEvidentlyValid(event: TrimmedMembers): boolean {
  return (
    event.schemaVersion === 1 &&
    isIdentifier(event.eventId) &&
    isIdentifier(event.source) &&
    isIdentifier(event.sourceEpoch) &&
    isIdentifier(event.childId) &&
    typeof event.observedAt === "string" &&
    isCanonicalTimestamp(event.observedAt) &&
    (event.sequence === undefined || isCount(event.sequence)) &&
    (event.activity === undefined || typeof event.activity === "string") &&
    (event.details === undefined || isJsonObject(event.details)) &&
    (event.capabilities === undefined || isCapabilities(event.capabilities)) &&
    isLineage(event.lineage) &&
    stateFitsKind(event.kind, event.state)
  );
}

/** Code units are never fewer than characters. */
function isIdentifier(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_IDENTIFIER_LENGTH;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isLineage(value: unknown): boolean {
  const lineage = value as Readonly<Record<string, unknown>>;
  return (
    typeof value === "object" &&
    value !== null &&
    isIdentifier(lineage.rootChildId) &&
    isCount(lineage.attempt) &&
    typeof lineage.external === "boolean" &&
    (lineage.parentChildId === undefined || isIdentifier(lineage.parentChildId)) &&
    (lineage.adoptedAt === undefined ||
      (typeof lineage.adoptedAt === "string" && isCanonicalTimestamp(lineage.adoptedAt)))
  );
}

function isCapabilities(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const stated = value as Readonly<Record<string, unknown>>;
  for (const name of CAPABILITY_NAMES) {
    const knowledge = stated[name];
    if (knowledge !== undefined && knowledge !== "known" && knowledge !== "unknown") return false;
  }
  return true;
}

const KINDS: ReadonlySet<unknown> = new Set(EVENT_KINDS);

function stateFitsKind(kind: unknown, state: unknown): boolean {
  if (!KINDS.has(kind)) return false;
  switch (kind as EventKind) {
    case "created":
      return state === "created";
    case "state_changed":
      return isState(state);
    case "terminal":
      return isState(state) && isTerminal(state);
    default:
      return state === undefined;
  }
}
