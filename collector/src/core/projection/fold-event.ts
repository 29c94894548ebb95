import { isTerminal, type LifecycleEvent } from "@agent-lifecycle/proto";
import { learnFacts } from "./child-facts.ts";
import type { ChildRecord } from "./child-record.ts";
import { enterEpoch, epochChanged, noteUnseenEpoch, relateEpoch } from "./epochs.ts";
import { accepted, conflict, type EventFold, outOfOrder } from "./event-fold.ts";
import { evidenceReceived } from "./evidence.ts";
import { foldState } from "./fold-state.ts";
import type { EventInput } from "./input.ts";
import { compareLineage } from "./lineage.ts";
import { newRecord } from "./new-record.ts";
import { learnFrom, type Observation, observe, showActivity } from "./observation.ts";
import { beginStream, placeOf, receiveAfterEnd, receiveSequence, type SequencePlace } from "./sequence-tracking.ts";

/**
 * Decides what one event does to one child: the rules P2 to P12 in their order, the first that applies (P1 is the
 * door's). `key` numbers the child if the event is its first.
 */
export function foldEvent(known: ChildRecord | undefined, input: EventInput, key: number): EventFold {
  if (input.identity === "same") return { status: "deduplicated", record: known };
  if (input.identity === "different") return conflict(known, "identity_conflict");
  const observation = observe(input);
  const { event, observedAt } = observation;
  if (known === undefined) return foldInto(newRecord(key, event, observedAt, observation.evidenceAt), observation);
  if (compareLineage(known, event.lineage) === "different") return conflict(known, "lineage_conflict");

  const epoch = relateEpoch(known, event.sourceEpoch, observedAt);
  if (epoch === "superseded") return outOfOrder(noteUnseenEpoch(known, event.sourceEpoch), "epoch_superseded");
  if (epoch === "current") return foldInto(known, observation);
  if (isTerminal(known.state)) return afterTheEnd(known, observation);
  if (isEarlierUnsequencedState(known, observation)) return outOfOrder(known, "out_of_order");
  return {
    ...foldInto(enterEpoch(known, event.sourceEpoch, observedAt), observation),
    audit: epochChanged(known, event.sourceEpoch, input.receivedAt),
  };
}

/** P6 to P12, for an event of the child's current epoch. */
function foldInto(record: ChildRecord, observation: Observation): EventFold {
  const { event } = observation;
  const place = placeOf(record, event.sequence);
  if (isLate(record, observation, place)) return foldLate(record, event);
  if (isTerminal(record.state)) return afterTheEnd(record, observation);
  switch (event.kind) {
    case "created":
    case "state_changed":
    case "terminal":
      return foldState(record, observation, event.state, place);
    case "activity":
    case "heartbeat":
      return foldSign(record, observation, place);
    case "reconciliation":
    case "diagnostic":
      return accepted(noteCancelRequest(receiveSequence(record, event.sequence), event), place);
  }
}

/** P15 and D5: that somebody asked for the child's end is shown beside its state, which stands. */
function noteCancelRequest(record: ChildRecord, { details }: LifecycleEvent): ChildRecord {
  const cancelRequestedAt = details?.cancelRequestedAt;
  return cancelRequestedAt === undefined ? record : { ...record, facts: { ...record.facts, cancelRequestedAt } };
}

/** P6: what is older than the record's knowledge and can change nothing any more. */
function isLate(record: ChildRecord, observation: Observation, place: SequencePlace): boolean {
  const { event } = observation;
  if (place === "unsequenced") return isEarlierUnsequencedState(record, observation);
  const sequence = event.sequence as number;
  // The end has one place in the stream: what lies before it is late, what lies after it is a late claim (P7).
  if (isTerminal(record.state)) return record.stateSequence !== undefined && sequence < record.stateSequence;
  if (place === "behind") return true;
  if (place !== "in_gap") return false;
  switch (event.kind) {
    case "created":
    case "state_changed":
    case "terminal":
      return record.stateSequence !== undefined && sequence < record.stateSequence;
    case "activity":
      return record.activitySequence !== undefined && sequence < record.activitySequence;
    case "heartbeat":
      return record.heartbeatSequence !== undefined && sequence < record.heartbeatSequence;
    case "reconciliation":
    case "diagnostic":
      return true;
  }
}

function isEarlierUnsequencedState(record: ChildRecord, { event, observedAt }: Observation): boolean {
  return (
    event.sequence === undefined &&
    event.state !== undefined &&
    record.stateAt !== undefined &&
    observedAt < record.stateAt
  );
}

function foldLate(record: ChildRecord, event: LifecycleEvent): EventFold {
  const received = receiveSequence(record, event.sequence);
  const begun = event.state === "created" && !event.lineage.external ? beginStream(received, event.sequence) : received;
  return outOfOrder(begun, "out_of_order");
}

/** P7 and P19. The sequence counts as received; nothing is missing after an end. */
function afterTheEnd(record: ChildRecord, { event, observedAt }: Observation): EventFold {
  const counted = event.sourceEpoch === record.epoch ? receiveAfterEnd(record, event.sequence) : record;
  const isClaim = event.kind !== "reconciliation" && event.kind !== "diagnostic";
  const before = record.lateEvidence;
  const lastState = event.state ?? before?.lastState;
  const lateEvidence = {
    count: (before?.count ?? 0) + 1,
    lastObservedAt: Math.max(before?.lastObservedAt ?? observedAt, observedAt),
    ...(lastState === undefined ? undefined : { lastState }),
  };
  return {
    status: "terminal_immutable",
    diagnostic: "terminal_immutable",
    record: isClaim ? { ...counted, lateEvidence } : counted,
  };
}

/** An activity or heartbeat: it never changes state (P10), and where there is no state it guesses none (P12). */
function foldSign(record: ChildRecord, observation: Observation, place: SequencePlace): EventFold {
  const { event, observedAt } = observation;
  const isActivity = event.kind === "activity";
  const seen = evidenceReceived(receiveSequence(record, event.sequence), observation, isActivity);
  const learned = learnFrom(seen, event);
  const facts = learnFacts(learned.facts, event.details, isActivity);
  const shown = isActivity || event.activity !== undefined ? showActivity(learned, observation) : learned;
  if (isActivity) return accepted({ ...shown, facts }, place);
  const heartbeatSequence = event.sequence ?? shown.highestSequence;
  const heartbeatAt = Math.max(shown.heartbeatAt ?? observedAt, observedAt);
  return accepted({ ...shown, facts, heartbeatAt, heartbeatSequence }, place);
}
