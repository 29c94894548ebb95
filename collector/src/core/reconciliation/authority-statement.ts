import type { LifecycleSnapshot } from "@agent-lifecycle/proto";
import { parseTimestamp } from "@agent-lifecycle/proto";
import type { ChildRecord } from "../projection/child-record.ts";
import { relateEpoch } from "../projection/epochs.ts";
import type { AuthorityAnswer } from "./outcome.ts";

/** What an authority said: as of when, whom it speaks for, and whom it names. */
export interface AuthorityStatement {
  readonly epoch: string;
  readonly snapshotId: string;
  /** When the authority looked, by its own clock; not when it was asked. Milliseconds since the epoch. */
  readonly observedAt: number;
  /** It names every child that it covers and that is there. Only then its silence about a child says something. */
  readonly isComplete: boolean;
  readonly coverage: "all" | ReadonlySet<string>;
  readonly listed: ReadonlySet<string>;
}

/**
 * The statement that a snapshot makes.
 * @param isSuperseded its epoch was left behind (A3): it may name who is there, and proves nobody's absence
 */
export function statementOf(snapshot: LifecycleSnapshot, isSuperseded: boolean): AuthorityStatement {
  const { sourceEpoch, snapshotId, observedAt, complete, coverage, children } = snapshot;
  return {
    epoch: sourceEpoch,
    snapshotId,
    observedAt: parseTimestamp(observedAt) as number,
    isComplete: complete && !isSuperseded,
    coverage: coverage === "all" ? "all" : new Set(coverage),
    listed: new Set(children.map(({ childId }) => childId)),
  };
}

/**
 * What a statement says about a child. An omission speaks only of a child that was seen before the statement was made, and
 * in no later epoch (A3, A6): one that has been heard of since was no longer, or not yet, what the authority looked at.
 */
export function answerAbout(statement: AuthorityStatement, record: ChildRecord): AuthorityAnswer {
  const { listed, isComplete, coverage, observedAt, epoch } = statement;
  if (listed.has(record.childId)) return "lists_child";
  const isCovered = coverage === "all" || coverage.has(record.childId);
  const isOlder = observedAt < record.lastObservedAt || relateEpoch(record, epoch, observedAt) === "superseded";
  return isComplete && isCovered && !isOlder ? "omits_child" : "says_nothing";
}
