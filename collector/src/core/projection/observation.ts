import {
  capabilitiesFrom,
  type LifecycleEvent,
  type Lineage,
  mergeCapabilities,
  parseTimestamp,
} from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";
import type { EvidenceTimes } from "./evidence.ts";
import type { EventInput } from "./input.ts";
import { learnLineage } from "./lineage.ts";

/** An event under judgement, with what every rule asks of it worked out once. */
export interface Observation extends EvidenceTimes {
  readonly event: LifecycleEvent;
}

export function observe({ event, receivedAt, backfill }: EventInput): Observation {
  const observedAt = parseTimestamp(event.observedAt) as number;
  const evidenceAt = backfill ? Math.min(observedAt, receivedAt) : receivedAt;
  return { event, observedAt, evidenceAt, isLive: !backfill };
}

/** The newest activity is the current one: by its place in the stream, or else by the source's clock. */
export function showActivity(record: ChildRecord, { event, observedAt }: Observation): ChildRecord {
  const isOlder =
    event.sequence === undefined
      ? record.activityAt !== undefined && observedAt < record.activityAt
      : record.activitySequence !== undefined && event.sequence < record.activitySequence;
  if (isOlder) return record;
  const activitySequence = event.sequence ?? record.highestSequence;
  return { ...record, activity: event.activity, activityAt: observedAt, activitySequence };
}

/** What accepted evidence teaches about where the child stands and what its source offers. */
export function learnFrom(record: ChildRecord, event: LifecycleEvent): ChildRecord {
  const lineage: Lineage = learnLineage(record, event.lineage);
  const capabilities = mergeCapabilities(record.capabilities, capabilitiesFrom(event.capabilities));
  if (lineage === record.lineage && capabilities === record.capabilities && !record.lineageAssumed) return record;
  return { ...record, lineage, capabilities, lineageAssumed: false };
}
