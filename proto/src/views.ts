import type { Capabilities } from "./capabilities.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { LifecycleEvent, Lineage } from "./event.ts";
import type { ReservedDetails } from "./reserved-details.ts";
import type { State } from "./state.ts";
import type { VisibilityContract } from "./visibility-contract.ts";

/** What displays and integrators read (contract section 7). All times are RFC 3339 UTC with milliseconds. */

/** One child, as the projection knows it: a fact or its absence, never a guess. */
export interface ChildView {
  readonly source: string;
  readonly childId: string;
  readonly lineage: Lineage;
  readonly capabilities: Capabilities;
  /** `null` until a state was reported. */
  readonly state: State | null;
  /** When the source saw the state begin. */
  readonly stateAt: string | null;
  /** The source implied the state and did not report it. */
  readonly stateInferred: boolean;
  /** What the state rests on; `null` without a state. */
  readonly stateEvidence: "event" | "authoritative_snapshot" | "failed_reconciliation" | null;
  /** The same for a child that has ended; `null` before. */
  readonly terminalEvidence: "event" | "authoritative_snapshot" | "failed_reconciliation" | null;
  readonly activity: string | null;
  readonly activityAt: string | null;
  readonly heartbeatAt: string | null;
  readonly facts: Omit<ReservedDetails, "inferred">;
  /** The projection rests on something that is missing; `missing` names it. */
  readonly provisional: boolean;
  readonly missing: readonly ("sequence_gap" | "epoch_gap" | "beginning")[];
  readonly stale: { readonly since: string; readonly reason: "deadline" | "snapshot_omission" } | null;
  readonly reconciliation: { readonly requestedAt: string; readonly deadline: string } | null;
  /** Consecutive complete snapshots that did not list the child. */
  readonly misses: number;
  readonly history: "complete" | "from_adoption" | "partial";
  readonly firstObservedAt: string;
  readonly lastObservedAt: string;
  /** Alive: the newest accepted evidence, on the collector's clock. */
  readonly lastEvidenceAt: string;
  /** Progress: the newest state or activity, on the collector's clock. */
  readonly lastProgressAt: string;
  readonly sourceEpoch: string;
  readonly highestSequence: number | null;
  /** Missing sequences, as inclusive ranges. */
  readonly gaps: readonly (readonly [from: number, to: number])[];
  readonly conflicts: number;
  readonly corrections: number;
  readonly outOfOrder: number;
  /** Claims after the end; they changed nothing. */
  readonly lateEvidence: {
    readonly count: number;
    readonly lastObservedAt: string;
    readonly lastState: State | null;
  } | null;
}

/** Children that have a state, newest first. */
export interface ChildrenPage {
  readonly children: readonly ChildView[];
  /** Id of the newest input that the page takes in: a stream opened after it misses nothing. */
  readonly position: number;
  /** Pass as `cursor` for the next page; `null` at the end. */
  readonly nextCursor: string | null;
}

/** One stored input about a child, with what became of it. */
export interface InputView {
  readonly inputId: number;
  readonly type: "event" | "snapshot" | "stale" | "reconciliation" | "resumed";
  readonly at: string;
  readonly backfill: boolean;
  readonly status: string;
  readonly diagnostic: string | null;
  readonly event: LifecycleEvent | null;
}

export interface AuditView {
  readonly inputId: number;
  readonly reason: "authoritative_snapshot" | "failed_reconciliation" | "epoch_changed";
  readonly source: string;
  readonly childId: string;
  readonly from: string | null;
  readonly to: string;
  readonly at: string;
  readonly snapshotId: string | null;
}

export interface DiagnosticView extends Diagnostic {
  readonly id: number;
  readonly at: string;
  readonly receiver: string;
  readonly source: string | null;
  readonly childId: string | null;
}

export interface InputsPage {
  /** Oldest first. */
  readonly inputs: readonly InputView[];
  /** Pass as `cursor` for the next page; `null` at the end. */
  readonly nextCursor: string | null;
}

export interface AuditPage {
  /** Oldest first. */
  readonly audit: readonly AuditView[];
  /** Pass as `cursor` for the next page; `null` at the end. */
  readonly nextCursor: string | null;
}

export interface DiagnosticsPage {
  /** Newest first. */
  readonly diagnostics: readonly DiagnosticView[];
  /** Pass as `cursor` for the next page; `null` at the end. */
  readonly nextCursor: string | null;
}

/** The sources that children are known of, that have an authority, or that an adapter observes, sorted. */
export interface SourcesView {
  readonly sources: readonly SourceView[];
}

export interface SourceView {
  readonly source: string;
  /** Of any state, ended ones included. */
  readonly children: number;
  /** Who can be relied on to know all children of the source; `null`: nobody (contract S6). */
  readonly authority: AuthorityView | null;
  /** What observes the source for the collector; `null`: its producers report by themselves. */
  readonly adapter: AdapterView | null;
  /** What was declared of how it can be seen; absent: nothing was. */
  readonly visibility?: VisibilityView;
}

/** A visibility contract, and how it compares with what is seen. */
export interface VisibilityView {
  readonly contract: VisibilityContract;
  /** When the newest declaration came. */
  readonly declaredAt: string;
  readonly mismatches: readonly VisibilityMismatchView[];
}

/** One way in which a source is not what was declared. */
export interface VisibilityMismatchView {
  /** Which statement it is about, dotted: `events.sequence`. */
  readonly path: string;
  readonly text: string;
  /** Events that showed it since the collector started. */
  readonly count: number;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
}

/**
 * How far an adapter may be relied on. `adapter foundation`: the protocol is spoken, interop is not proven. `experimental`:
 * proven against the real thing, behaviour may still change. `supported`: changes are announced.
 */
export const SUPPORT_LEVELS = ["adapter foundation", "experimental", "supported"] as const;

export type SupportLevel = (typeof SUPPORT_LEVELS)[number];

/** The authority of a source, and how asking it goes. */
export interface AuthorityView {
  /** The component's id, such as `http/orchestrator`. */
  readonly id: string;
  /** The component's type, such as `http`, `push` or `module`. */
  readonly kind: string;
  readonly supportLevel: SupportLevel;
  readonly answers: number;
  readonly failures: number;
  /** Failures since the last answer. */
  readonly failuresInARow: number;
  readonly lastAnsweredAt: string | null;
  readonly lastFailedAt: string | null;
  /** Why the last question came to nothing, redacted and short; `null` after an answer. */
  readonly lastFailure: string | null;
  readonly inFlightSince: string | null;
  /** When it is asked next, or when its next push is due; in the past, it is overdue. `null` while a question is on its way. */
  readonly nextDueAt: string | null;
  /** What it said last. */
  readonly statement: {
    readonly snapshotId: string;
    readonly sourceEpoch: string;
    /** When the authority looked, by its own clock. */
    readonly observedAt: string;
    /** Whether its silence about a child says something. */
    readonly complete: boolean;
    /** Children that it speaks for; `null`: all of the source. */
    readonly covered: number | null;
    /** Children that it names. */
    readonly listed: number;
  } | null;
}

/** An adapter to a system that does not speak this protocol: how it is connected, and what it can see there. */
export interface AdapterView {
  /** Where the system is, without credentials. */
  readonly address: string;
  readonly connection: {
    readonly state: "connecting" | "connected" | "disconnected" | "stopped";
    /** `null` while there is none. */
    readonly since: string | null;
    /** Connections that worked, this one included. */
    readonly count: number;
    /** How the one before ended, or why there is none. */
    readonly lastEnd: { readonly at: string; readonly kind: string; readonly text: string } | null;
  };
  /** Names the run of the system that is observed; `null` while there is no connection. */
  readonly epoch: string | null;
  /** What the system was found to offer; `null` while there is no connection. */
  readonly features: Readonly<Record<string, boolean | string>> | null;
  /** What is therefore known of its children; `null` while there is no connection. */
  readonly capabilities: Capabilities | null;
  readonly lastLookAt: string | null;
  /** The newest look that gave nothing: nothing was concluded from it. */
  readonly lastFailure: { readonly at: string; readonly text: string } | null;
  readonly runningChildren: number;
  readonly attachedSessions: number;
  readonly eventsStored: number;
  /** Events that the contract refused. */
  readonly eventsRefused: number;
  readonly snapshotsStored: number;
  /** What the system sent and nobody could use, by diagnostic code. */
  readonly problems: Readonly<Record<string, number>>;
}

/** The counts always add up: started = live + completed + failed + cancelled + lost. */
export interface SummaryView {
  readonly started: number;
  readonly live: number;
  readonly byState: Readonly<Record<State, number>>;
  readonly stale: number;
  readonly provisional: number;
  /** Children heard of without any state; they are not rows. */
  readonly stateUnknown: number;
  /** `false` until any evidence source was ever seen (D2). */
  readonly evidenceSeen: boolean;
  /** Id of the newest stored input; 0 when there is none. */
  readonly position: number;
  /** The collector's clock. */
  readonly at: string;
}

/** D2: what a display says, to the letter, when no lifecycle evidence source was ever seen. */
export const VISIBILITY_UNAVAILABLE: string = "Background work visibility unavailable; state unknown.";
