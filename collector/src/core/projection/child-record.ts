import type { Capabilities, Lineage, State } from "@agent-lifecycle/proto";
import type { ChildFacts } from "./child-facts.ts";
import type { SequenceRanges } from "./sequence-ranges.ts";

/** How much of a child's life its record rests on. */
export type History = "complete" | "from_adoption" | "partial";

/** Why a child counts as ended (P16). */
export type TerminalEvidence = "event" | "authoritative_snapshot" | "failed_reconciliation";

export type StaleReason = "deadline" | "snapshot_omission";

export interface Staleness {
  readonly since: number;
  readonly reason: StaleReason;
}

/** A question that is open with whoever can answer for the child (S2); answered by a verdict not before `deadline`. */
export interface ReconciliationRequest {
  readonly requestedAt: number;
  readonly deadline: number;
}

/** Claims that came after the end (P19). They change nothing; they are shown beside it. */
export interface LateEvidence {
  readonly count: number;
  /** When the source saw the newest of them. */
  readonly lastObservedAt: number;
  /** The newest claim that named a state. */
  readonly lastState?: State;
}

/**
 * Everything the projection knows of one child (P16). A value: folding makes a new one, and nothing here grows with the
 * number of events (P17). All times are milliseconds since the epoch.
 */
export interface ChildRecord {
  /** Position of the child in the order of first appearance; the same again on every replay. */
  readonly key: number;
  readonly source: string;
  readonly childId: string;
  readonly lineage: Lineage;
  /** The child was discovered by a snapshot that stated no lineage: the first statement is learned, not compared. */
  readonly lineageAssumed: boolean;
  readonly capabilities: Capabilities;

  /** Absent until a state-bearing input arrives: none is ever guessed (P12). */
  readonly state: State | undefined;
  /** When the source saw the state begin. */
  readonly stateAt: number | undefined;
  /** Sequence of the event that set the state, or the highest one seen when something unsequenced set it. */
  readonly stateSequence: number | undefined;
  readonly terminalEvidence: TerminalEvidence | undefined;
  /** An authority stated the state, against what events said or where none said anything. */
  readonly stateFromSnapshot: boolean;

  readonly activity: string | undefined;
  readonly activityAt: number | undefined;
  readonly activitySequence: number | undefined;
  readonly heartbeatAt: number | undefined;
  readonly heartbeatSequence: number | undefined;
  readonly facts: ChildFacts | undefined;

  /** When the source first and last saw the child, over all accepted evidence. */
  readonly firstObservedAt: number;
  readonly lastObservedAt: number;
  /** Alive: the newest accepted evidence, on the collector's clock (P20, S1). */
  readonly lastEvidenceAt: number;
  /** Progress: the newest state or activity, on the collector's clock (P20). */
  readonly lastProgressAt: number;
  /** Silence is counted from here: the newest evidence, or a later time at which the collector itself came back (S1). */
  readonly silentSince: number;

  readonly epoch: string;
  readonly epochFirstObservedAt: number;
  /** Whether a state was accepted in this epoch; until then the first one may repeat the state it inherited (P10). */
  readonly epochHasState: boolean;
  /** The newest epochs that were left behind, oldest first. */
  readonly supersededEpochs: readonly string[];
  /** Epochs were met that `supersededEpochs` does not name. One of them could come back with sequences already seen (P2). */
  readonly epochsForgotten: boolean;
  readonly highestSequence: number | undefined;
  readonly gaps: SequenceRanges;
  /** Older gaps than `gaps` can hold were given up; they can no longer be seen to close. */
  readonly gapsForgotten: boolean;
  /** What happened between two epochs is not known in full. */
  readonly epochGap: boolean;
  /** No `created` was seen, and nothing authoritative has vouched for the child since. */
  readonly beginningMissing: boolean;
  readonly history: History;

  readonly stale: Staleness | undefined;
  readonly reconciliation: ReconciliationRequest | undefined;
  /** Consecutive complete snapshots that cover the child and do not list it (A6). */
  readonly misses: number;

  readonly conflicts: number;
  readonly corrections: number;
  readonly outOfOrder: number;
  readonly lateEvidence: LateEvidence | undefined;
}

/** Whether the record rests on something that is missing (contract section 1). */
export function isProvisional(record: ChildRecord): boolean {
  return record.gaps.length > 0 || record.gapsForgotten || record.epochGap || record.beginningMissing;
}

/** Everything before now is vouched for by an authority: nothing is missing any more (P14). History stays what it was. */
export function settled(record: ChildRecord): ChildRecord {
  if (!isProvisional(record)) return record;
  return { ...record, gaps: [], gapsForgotten: false, epochGap: false, beginningMissing: false };
}
