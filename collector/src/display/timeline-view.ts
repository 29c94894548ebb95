import type { Lineage, State } from "@agent-lifecycle/proto";

/** A state for as long as it stood in the record. Times are RFC 3339 UTC. */
export interface StateInterval {
  readonly state: State;
  /** When its source saw it begin; for what a snapshot or verdict said, when the collector took that. */
  readonly from: string;
  /** When the next state began; `null` while it stands, and for the state that a child ended in. */
  readonly to: string | null;
  /** When the collector learned of it: what was known at an earlier time is told by this. */
  readonly recordedAt: string;
  readonly by: "event" | "authoritative_snapshot" | "failed_reconciliation";
  /** Accepted over something missing. */
  readonly isProvisional: boolean;
  /** Its source implied it and did not report it. */
  readonly isInferred: boolean;
}

export interface StaleInterval {
  readonly from: string;
  /** The evidence that ended it, at the latest; `null` while it lasts. */
  readonly to: string | null;
  readonly reason: "deadline" | "snapshot_omission";
}

export interface ActivityTick {
  /** When its source saw it. */
  readonly at: string;
  readonly recordedAt: string;
  readonly text: string | null;
}

/** Something to know about the record at one time. */
export interface TimelineMark {
  readonly at: string;
  readonly recordedAt: string;
  readonly kind:
    | "gap"
    | "gap_filled"
    | "correction"
    | "epoch_changed"
    | "late"
    | "conflict"
    | "out_of_order"
    | "rejected";
  /** Short words on what it was: a state that was claimed, a diagnostic's code. */
  readonly text: string;
}

/** One child over time. */
export interface TimelineEntry {
  readonly source: string;
  readonly childId: string;
  readonly name: string | null;
  readonly lineage: Lineage;
  readonly firstObservedAt: string;
  readonly intervals: readonly StateInterval[];
  readonly stale: readonly StaleInterval[];
  /** The newest ones. */
  readonly activities: readonly ActivityTick[];
  readonly marks: readonly TimelineMark[];
  /** More is stored about the child than is looked at here. */
  readonly isCut: boolean;
}

export interface TimelinePage {
  /** Newest child first. */
  readonly timeline: readonly TimelineEntry[];
  readonly position: number;
  /** Pass as `cursor` for the next page; `null` at the end. */
  readonly nextCursor: string | null;
}

/** What was known of a child at an earlier time. */
export interface KnownThen {
  readonly state: State;
  readonly since: string;
  readonly isStale: boolean;
  readonly isProvisional: boolean;
  readonly activity: string | null;
}

/**
 * What the record said at an instant: of what the collector had learned by then, the newest. `undefined` before it knew any
 * state of the child.
 * @param instant milliseconds since the epoch
 */
export function knownAt(entry: TimelineEntry, instant: number): KnownThen | undefined {
  const hadRecorded = ({ recordedAt }: { readonly recordedAt: string }): boolean => Date.parse(recordedAt) <= instant;
  const interval = entry.intervals.findLast(hadRecorded);
  if (interval === undefined) return undefined;
  return {
    state: interval.state,
    since: interval.from,
    isStale: entry.stale.some(
      ({ from, to }) => Date.parse(from) <= instant && (to === null || instant < Date.parse(to)),
    ),
    isProvisional: interval.isProvisional,
    activity: entry.activities.findLast(hadRecorded)?.text ?? null,
  };
}
