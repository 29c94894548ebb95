import type { LifecycleEvent, LifecycleSnapshot } from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";
import { includesSequence } from "./sequence-ranges.ts";

/** What to look up to learn whether an input was seen before (P2, A2). */
export type IdentityQuestion =
  | {
      readonly by: "sequence";
      /** Key of the child's record, for stores that find its inputs by it. */
      readonly childKey?: number;
      readonly source: string;
      readonly sourceEpoch: string;
      readonly childId: string;
      readonly sequence: number;
    }
  | { readonly by: "eventId"; readonly source: string; readonly eventId: string }
  | { readonly by: "snapshotId"; readonly source: string; readonly snapshotId: string };

/**
 * The question an event raises, or `undefined` when the record alone tells that it is new: in the child's epoch, a
 * sequence above the highest or inside an open gap was never received. That is nearly every event, so that the store is
 * asked only about the rest. A child of so many epochs that one may have come back is always asked about.
 */
export function identityQuestion(record: ChildRecord | undefined, event: LifecycleEvent): IdentityQuestion | undefined {
  const { source, sourceEpoch, childId, sequence } = event;
  if (sequence === undefined) return { by: "eventId", source, eventId: event.eventId };
  if (record === undefined) return undefined;
  if (record.epoch === sourceEpoch && !record.epochsForgotten) {
    const aboveAll = record.highestSequence === undefined || sequence > record.highestSequence;
    if (aboveAll || includesSequence(record.gaps, sequence)) return undefined;
  }
  return { by: "sequence", childKey: record.key, source, sourceEpoch, childId, sequence };
}

export function snapshotIdentityQuestion(snapshot: LifecycleSnapshot): IdentityQuestion {
  return { by: "snapshotId", source: snapshot.source, snapshotId: snapshot.snapshotId };
}

/** One text per identity, for memories that keep them in a map. */
export function identityKey(question: IdentityQuestion): string {
  switch (question.by) {
    case "sequence":
      return JSON.stringify(["s", question.source, question.sourceEpoch, question.childId, question.sequence]);
    case "eventId":
      return JSON.stringify(["e", question.source, question.eventId]);
    case "snapshotId":
      return JSON.stringify(["a", question.source, question.snapshotId]);
  }
}

/** The identity an event claims for itself once it is not refused as a conflict. */
export function identityOf(event: LifecycleEvent): IdentityQuestion {
  const { source, sourceEpoch, childId, sequence } = event;
  if (sequence === undefined) return { by: "eventId", source, eventId: event.eventId };
  return { by: "sequence", source, sourceEpoch, childId, sequence };
}
