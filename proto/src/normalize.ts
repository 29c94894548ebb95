import { type Capabilities, capabilitiesFrom } from "./capabilities.ts";
import { sanitizeDetails } from "./details.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { LifecycleEvent, Lineage } from "./event.ts";
import { isEvidentlyValid, type TrimmedMembers } from "./evident-validity.ts";
import { validEvent } from "./generated/validators.ts";
import { isJsonObject } from "./json.ts";
import { MAX_ACTIVITY_LENGTH } from "./limits.ts";
import { redactAndCut, redactIdentifier } from "./redact.ts";
import { wellFormed } from "./text.ts";
import { normalizeTimestamp } from "./timestamp.ts";
import { firstProblem } from "./validator.ts";

export type NormalizedEvent =
  | {
      readonly ok: true;
      readonly event: LifecycleEvent;
      /** What was tolerated: a missing adoption time (N2), details that were cut or dropped (N4). */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic & { readonly code: "invalid_event" } };

const NO_DIAGNOSTICS: readonly Diagnostic[] = [];

/**
 * Turns anything into a valid, redacted, bounded event, or says which member broke the contract (N1–N5).
 * Never throws. Normalizing a normalized event returns an equal one.
 */
export function normalizeEvent(raw: unknown): NormalizedEvent {
  if (!isJsonObject(raw)) return invalid("", "an event is a JSON object");
  const candidate = trimEvent(raw);
  if (!isEvidentlyValid(candidate) && !validEvent(candidate)) {
    const { path, text } = firstProblem(validEvent);
    return invalid(path, text);
  }
  return finish(candidate as TrimmedMembers & TrimmedEvent);
}

/** The known members of an event, strings trimmed, nothing else checked. `null` is absent where absence is allowed. */
function trimEvent(raw: Readonly<Record<string, unknown>>): TrimmedMembers {
  return {
    schemaVersion: raw.schemaVersion,
    eventId: trim(raw.eventId),
    source: trim(raw.source),
    sourceEpoch: trim(raw.sourceEpoch),
    childId: trim(raw.childId),
    lineage: trimLineage(raw.lineage),
    kind: raw.kind,
    state: raw.state ?? undefined,
    observedAt: raw.observedAt,
    sequence: raw.sequence ?? undefined,
    activity: raw.activity ?? undefined,
    details: raw.details ?? undefined,
    capabilities: raw.capabilities ?? undefined,
  };
}

export function trimLineage(raw: unknown): unknown {
  if (!isJsonObject(raw)) return raw;
  return {
    rootChildId: trim(raw.rootChildId),
    attempt: raw.attempt,
    external: raw.external,
    parentChildId: trim(raw.parentChildId ?? undefined),
    adoptedAt: raw.adoptedAt ?? undefined,
  };
}

export function trim(value: unknown): unknown {
  return typeof value === "string" ? wellFormed(value.trim()) : value;
}

/** A lineage that the schema has accepted. */
export interface TrimmedLineage {
  readonly rootChildId: string;
  readonly attempt: number;
  readonly external: boolean;
  readonly parentChildId?: string | undefined;
  readonly adoptedAt?: string | undefined;
}

/** What the schema has accepted; times are still text that may name no real day. */
interface TrimmedEvent {
  readonly eventId: string;
  readonly source: string;
  readonly sourceEpoch: string;
  readonly childId: string;
  readonly lineage: TrimmedLineage;
  readonly kind: LifecycleEvent["kind"];
  readonly state?: LifecycleEvent["state"];
  readonly observedAt: string;
  readonly sequence?: number;
  readonly activity?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly capabilities?: Partial<Capabilities>;
}

// Events come in runs of one source: what the event before was about is rarely looked at again.
const redactSource = rememberingTheLast(redactIdentifier);
const redactSourceEpoch = rememberingTheLast(redactIdentifier);
const redactRoot = rememberingTheLast(redactIdentifier);
const redactParent = rememberingTheLast(redactIdentifier);

function rememberingTheLast(redact: (id: string) => string): (id: string) => string {
  let last = "";
  let redacted = "";
  return (id) => {
    if (id !== last) {
      redacted = redact(id);
      last = id;
    }
    return redacted;
  };
}

/** Members in a fixed order, absent ones left out: events of one kind share one shape in memory. */
function finish(trimmed: TrimmedEvent): NormalizedEvent {
  const observedAt = normalizeTimestamp(trimmed.observedAt);
  if (observedAt === undefined) return invalid("observedAt", "names no real calendar time");
  const childId = redactIdentifier(trimmed.childId);
  const lineage = normalizeLineage(trimmed.lineage, trimmed.childId, childId);
  if (typeof lineage === "string") return invalid(lineage, "breaks the contract");
  const event: { -readonly [Member in keyof TrimmedEvent]: unknown } & { schemaVersion: 1 } = {
    schemaVersion: 1,
    eventId: redactIdentifier(trimmed.eventId),
    source: redactSource(trimmed.source),
    sourceEpoch: redactSourceEpoch(trimmed.sourceEpoch),
    childId,
    lineage,
    kind: trimmed.kind,
    observedAt,
    capabilities: capabilitiesFrom(trimmed.capabilities),
  };
  let diagnostics = NO_DIAGNOSTICS;
  if (trimmed.state !== undefined) event.state = trimmed.state;
  if (trimmed.sequence !== undefined) event.sequence = trimmed.sequence + 0;
  if (trimmed.activity !== undefined) event.activity = boundActivity(trimmed.activity);
  if (trimmed.details !== undefined) {
    const sanitized = sanitizeDetails(trimmed.details);
    if (sanitized.details !== undefined) event.details = sanitized.details;
    diagnostics = sanitized.diagnostics;
  }
  if (lineage.external && lineage.adoptedAt === undefined) diagnostics = [ADOPTION_TIME_MISSING, ...diagnostics];
  return { ok: true, event: event as LifecycleEvent, diagnostics };
}

const ADOPTION_TIME_MISSING: Diagnostic = { code: "adoption_time_missing", path: "lineage.adoptedAt" };

export function boundActivity(activity: string): string {
  return redactAndCut(wellFormed(activity), MAX_ACTIVITY_LENGTH);
}

/** @returns the normalized lineage, or the path of the member that breaks N2 or is no calendar time. */
export function normalizeLineage(stated: TrimmedLineage, statedChildId: string, childId: string): Lineage | string {
  if (stated.parentChildId === statedChildId) return "lineage.parentChildId";
  const rootChildId = stated.rootChildId === statedChildId ? childId : redactRoot(stated.rootChildId);
  const attempt = stated.attempt + 0;
  const { external } = stated;
  // Whole literals: a member that is added later makes every child's lineage a larger object.
  const lineage: Lineage =
    stated.parentChildId === undefined
      ? { rootChildId, attempt, external }
      : { rootChildId, attempt, external, parentChildId: redactParent(stated.parentChildId) };
  if (stated.adoptedAt === undefined) return lineage;
  const adoptedAt = normalizeTimestamp(stated.adoptedAt);
  return adoptedAt === undefined ? "lineage.adoptedAt" : { ...lineage, adoptedAt };
}

function invalid(path: string, text: string): NormalizedEvent {
  return { ok: false, diagnostic: { code: "invalid_event", path, text } };
}
