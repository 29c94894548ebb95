import { isTerminal, STATES, type State } from "@agent-lifecycle/proto";
import { type ChildRecord, isProvisional } from "./child-record.ts";
import type { ChildChange } from "./input.ts";

/** How many children stand where. The counts always add up: started = live + completed + failed + cancelled + lost. */
export interface Summary {
  /** Children that have a state. */
  started: number;
  live: number;
  readonly byState: Record<State, number>;
  /** Live children marked stale. */
  stale: number;
  provisional: number;
  /** Children heard of without any state (P12): not rows, and not started. */
  stateUnknown: number;
}

export function createSummary(): Summary {
  const byState = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  return { started: 0, live: 0, byState, stale: 0, provisional: 0, stateUnknown: 0 };
}

/** Keeps the counts up with one change of one child. */
export function countChange(summary: Summary, change: ChildChange): void {
  if (change.before !== undefined) count(summary, change.before, -1);
  count(summary, change.after, 1);
}

/** Takes a child out of the counts that the shell lets go for good. */
export function countDeparture(summary: Summary, record: ChildRecord): void {
  count(summary, record, -1);
}

function count(summary: Summary, record: ChildRecord, by: 1 | -1): void {
  if (record.state === undefined) {
    summary.stateUnknown += by;
    return;
  }
  summary.started += by;
  summary.byState[record.state] += by;
  if (!isTerminal(record.state)) summary.live += by;
  if (record.stale !== undefined) summary.stale += by;
  if (isProvisional(record)) summary.provisional += by;
}
