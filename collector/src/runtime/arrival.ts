import {
  canonicalEvent,
  cutText,
  type Diagnostic,
  isJsonObject,
  type LifecycleEvent,
  MAX_IDENTIFIER_LENGTH,
  normalizeEvent,
  redactIdentifier,
} from "@agent-lifecycle/proto";

/** A candidate that passed the door: valid, redacted, and in its canonical form. */
export interface EventArrival {
  readonly valid: true;
  readonly event: LifecycleEvent;
  readonly canonicalContent: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** A candidate that did not, with as much of its identity as can be told. */
export interface InvalidArrival {
  readonly valid: false;
  readonly diagnostic: Diagnostic;
  readonly source?: string;
  readonly childId?: string;
}

export type Arrival = EventArrival | InvalidArrival;

/** What every receiver's candidates go through before anything else sees them (N1–N5). */
export function admit(candidate: unknown): Arrival {
  const normalized = normalizeEvent(candidate);
  if (normalized.ok) {
    const { event, diagnostics } = normalized;
    return { valid: true, event, canonicalContent: canonicalEvent(event), diagnostics };
  }
  return { valid: false, diagnostic: normalized.diagnostic, ...claimedIdentity(candidate) };
}

function claimedIdentity(candidate: unknown): { readonly source?: string; readonly childId?: string } {
  if (!isJsonObject(candidate)) return {};
  const source = readableIdentifier(candidate["source"]);
  const childId = readableIdentifier(candidate["childId"]);
  return { ...(source === undefined ? undefined : { source }), ...(childId === undefined ? undefined : { childId }) };
}

function readableIdentifier(value: unknown): string | undefined {
  return typeof value === "string" ? cutText(redactIdentifier(value), MAX_IDENTIFIER_LENGTH) : undefined;
}
