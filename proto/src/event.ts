import type { Capabilities } from "./capabilities.ts";
import type { Details } from "./details.ts";
import type { State, TerminalState } from "./state.ts";

export const SCHEMA_VERSION = 1;

/** What an event reports (contract section 2). Only `created`, `state_changed` and `terminal` carry a state. */
export const EVENT_KINDS = [
  "created",
  "state_changed",
  "activity",
  "heartbeat",
  "terminal",
  "reconciliation",
  "diagnostic",
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** Where a child stands among the others. A retry keeps `rootChildId` and counts `attempt` up. */
export interface Lineage {
  readonly rootChildId: string;
  /** 0 for the first try. */
  readonly attempt: number;
  /** Whether the child began before its source looked at it (an adopted child). */
  readonly external: boolean;
  readonly parentChildId?: string;
  /** RFC 3339 UTC; when an external child was adopted. */
  readonly adoptedAt?: string;
}

interface EventMembers {
  readonly schemaVersion: typeof SCHEMA_VERSION;
  /** Unique within its source; the identity of events without a sequence (P2). */
  readonly eventId: string;
  /** The adapter or producer that observed the child. */
  readonly source: string;
  /** Names one run of the source's sequence space; changes when the source restarts. */
  readonly sourceEpoch: string;
  readonly childId: string;
  readonly lineage: Lineage;
  /** When the source saw it: RFC 3339 UTC with milliseconds, `2026-09-01T09:00:00.000Z`. */
  readonly observedAt: string;
  /** Position in `(source, sourceEpoch, childId)`: a non-negative safe integer. */
  readonly sequence?: number;
  readonly activity?: string;
  readonly details?: Details;
  readonly capabilities: Capabilities;
}

export interface CreatedEvent extends EventMembers {
  readonly kind: "created";
  readonly state: "created";
}

export interface StateChangedEvent extends EventMembers {
  readonly kind: "state_changed";
  readonly state: State;
}

export interface TerminalEvent extends EventMembers {
  readonly kind: "terminal";
  readonly state: TerminalState;
}

export interface StatelessEvent extends EventMembers {
  readonly kind: "activity" | "heartbeat" | "reconciliation" | "diagnostic";
  readonly state?: never;
}

/** A normalized event: it has passed `normalizeEvent`, is redacted, and keeps within every limit. */
export type LifecycleEvent = CreatedEvent | StateChangedEvent | TerminalEvent | StatelessEvent;

/** What producers may write: `capabilities` may name only what is known, and text may still need trimming. */
export type LifecycleEventInput = Omit<EventMembers, "capabilities" | "details"> & {
  readonly kind: EventKind;
  readonly state?: State;
  readonly capabilities?: Partial<Capabilities>;
  readonly details?: Readonly<Record<string, unknown>>;
};
