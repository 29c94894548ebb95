import type { DiagnosticCode, LifecycleEvent, LifecycleSnapshot, State } from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";

/**
 * Whether the identity of an event or snapshot was seen before. The fold keeps no list of identities (P17): where a
 * record cannot tell, `identityQuestion` says what to look up, and the answer comes in with the input.
 */
export type IdentityAnswer = "new" | "same" | "different";

export interface EventInput {
  readonly type: "event";
  readonly event: LifecycleEvent;
  /** When the collector got it, milliseconds since the epoch. */
  readonly receivedAt: number;
  /** From a journal, file or replay: it says nothing about now (S1). */
  readonly backfill: boolean;
  readonly identity: IdentityAnswer;
}

/** The policy in force when a snapshot arrived. It is part of the input, so that a later change rewrites no history. */
export interface SnapshotPolicy {
  /** Consecutive misses that make a child stale (A6). */
  readonly missingGrace: number;
  readonly reconcileDeadlineMs: number;
}

export interface SnapshotInput {
  readonly type: "snapshot";
  readonly snapshot: LifecycleSnapshot;
  readonly receivedAt: number;
  readonly identity: IdentityAnswer;
  readonly policy: SnapshotPolicy;
}

/** The verdict of a liveness check (S2, S7). It holds only if no newer evidence was stored before it. */
export interface StaleInput {
  readonly type: "stale";
  readonly source: string;
  readonly childId: string;
  readonly at: number;
  /** The silence it judged. */
  readonly silentSince: number;
  /** When the reconciliation that it requests may fail. */
  readonly deadline: number;
}

/** Why a child was lost: its authority could not be reached, or did not name it, or it stopped to send its heartbeats. */
export type LossCause = "authority_unreachable" | "omitted_by_authority" | "heartbeats_stopped";

/** The outcome of a requested reconciliation (S4, S5). */
export interface ReconciliationInput {
  readonly type: "reconciliation";
  readonly source: string;
  readonly childId: string;
  readonly outcome: "failed" | "unavailable";
  /** Of one that failed; becomes the cause of the child's end. Verdicts of an earlier collector have none. */
  readonly cause?: LossCause;
  readonly at: number;
}

/** The collector started, or woke from a suspend (S1). */
export interface ResumedInput {
  readonly type: "resumed";
  readonly at: number;
}

export type ProjectionInput = EventInput | SnapshotInput | StaleInput | ReconciliationInput | ResumedInput;

export const INPUT_STATUSES = [
  "applied",
  "provisional",
  "gap_filled",
  "deduplicated",
  "out_of_order",
  "terminal_immutable",
  "conflict",
  "rejected",
] as const;

/** What became of an input, exactly one (contract section 3). */
export type InputStatus = (typeof INPUT_STATUSES)[number];

export interface ProjectionDiagnostic {
  readonly code: DiagnosticCode;
  readonly childId: string;
}

/** A change that no event of the child made by itself, or a change of epoch (A5, S4, P21). Kept for as long as the child. */
export type AuditEntry =
  | {
      readonly reason: "authoritative_snapshot";
      readonly source: string;
      readonly childId: string;
      /** `null`: the snapshot discovered the child. */
      readonly from: State | null;
      readonly to: State;
      readonly snapshotId: string;
      readonly at: number;
    }
  | {
      readonly reason: "failed_reconciliation";
      readonly source: string;
      readonly childId: string;
      readonly from: State;
      readonly to: "lost";
      readonly at: number;
    }
  | {
      readonly reason: "epoch_changed";
      readonly source: string;
      readonly childId: string;
      readonly from: string;
      readonly to: string;
      readonly at: number;
    };

/** One record before and after an input. */
export interface ChildChange {
  readonly before: ChildRecord | undefined;
  readonly after: ChildRecord;
}

/** Everything an input did, as values. The projection has already taken the changes; the rest is for the shell to do. */
export interface FoldResult {
  readonly status: InputStatus;
  readonly diagnostics: readonly ProjectionDiagnostic[];
  readonly changes: readonly ChildChange[];
  readonly audit: readonly AuditEntry[];
  /** The source's snapshot epoch, where the input changed it: what `revert` puts back. */
  readonly snapshotEpoch?: SnapshotEpochChange;
}

/** One run of a source's snapshots (A3). */
export interface SnapshotEpoch {
  readonly current: string;
  readonly firstObservedAt: number;
  /** The newest epochs that were left behind, oldest first. */
  readonly superseded: readonly string[];
}

export interface SnapshotEpochChange {
  readonly source: string;
  readonly before: SnapshotEpoch | undefined;
  readonly after: SnapshotEpoch;
}
