import {
  capabilitiesFrom,
  type DiagnosticCode,
  intermediateSteps,
  isLegalEdge,
  isTerminal,
  type LifecycleEvent,
  type Lineage,
  mergeCapabilities,
  parseTimestamp,
  type State,
} from "@agent-lifecycle/proto";
import { learnFacts, learnFactsOfState } from "./child-facts.ts";
import type { ChildRecord } from "./child-record.ts";
import { newRecord } from "./new-record.ts";
import { enterEpoch, epochChanged, relateEpoch } from "./epochs.ts";
import { evidenceReceived } from "./evidence.ts";
import type { AuditEntry, EventInput, InputStatus } from "./input.ts";
import { compareLineage, learnLineage } from "./lineage.ts";
import { beginStream, hiddenSteps, placeOf, receiveSequence, type SequencePlace } from "./sequence-tracking.ts";

export interface EventFold {
  readonly status: InputStatus;
  readonly diagnostic?: DiagnosticCode;
  /** The child's record after the event; the same object when nothing changed. */
  readonly record: ChildRecord | undefined;
  readonly audit?: AuditEntry;
}

/** An accepted event under judgement, with what every rule asks of it worked out once. */
interface Observation {
  readonly event: LifecycleEvent;
  readonly observedAt: number;
  readonly evidenceAt: number;
}

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
  if (epoch === "superseded") return outOfOrder(known, "epoch_superseded");
  if (epoch === "current") return foldInto(known, observation);
  if (isTerminal(known.state)) return afterTheEnd(known, observation);
  if (isEarlierUnsequencedState(known, observation)) return outOfOrder(known, "out_of_order");
  return {
    ...foldInto(enterEpoch(known, event.sourceEpoch, observedAt), observation),
    audit: epochChanged(known, event.sourceEpoch, input.receivedAt),
  };
}

function observe(input: EventInput): Observation {
  const observedAt = parseTimestamp(input.event.observedAt) as number;
  const evidenceAt = input.backfill ? Math.min(observedAt, input.receivedAt) : input.receivedAt;
  return { event: input.event, observedAt, evidenceAt };
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
      return accepted(receiveSequence(record, event.sequence), place);
  }
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
  const begun = event.kind === "created" && !event.lineage.external ? beginStream(received, event.sequence) : received;
  return outOfOrder(begun, "out_of_order");
}

/** P7 and P19. The sequence counts as received; nothing is missing after an end. */
function afterTheEnd(record: ChildRecord, { event, observedAt }: Observation): EventFold {
  const { sequence } = event;
  const reaches = event.sourceEpoch === record.epoch && sequence !== undefined && sequence > (record.highestSequence ?? -1);
  const counted = reaches ? { ...record, highestSequence: sequence } : record;
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
  const informed = { ...learned, facts: learnFacts(learned.facts, event.details, isActivity) };
  const shown = isActivity || event.activity !== undefined ? showActivity(informed, observation) : informed;
  if (isActivity) return accepted(shown, place);
  const heartbeatSequence = event.sequence ?? shown.highestSequence;
  const heartbeatAt = Math.max(shown.heartbeatAt ?? observedAt, observedAt);
  return accepted({ ...shown, heartbeatAt, heartbeatSequence }, place);
}

/** The newest activity is the current one. Without a sequence, only the source's clock tells which is newer. */
function showActivity(record: ChildRecord, { event, observedAt }: Observation): ChildRecord {
  const isOlder = event.sequence === undefined && record.activityAt !== undefined && observedAt < record.activityAt;
  if (isOlder) return record;
  const activitySequence = event.sequence ?? record.highestSequence;
  return { ...record, activity: event.activity, activityAt: observedAt, activitySequence };
}

/** P8 to P12 for an event that carries a state. */
function foldState(record: ChildRecord, observation: Observation, state: State, place: SequencePlace): EventFold {
  const { event } = observation;
  const received = receiveSequence(record, event.sequence);
  if (record.state === undefined) return firstState(received, observation, state, place);
  const steps = record.state === state && !record.epochHasState ? 0 : intermediateSteps(record.state, state);
  if (!record.epochHasState && steps !== undefined) {
    return firstStateOfEpoch(received, observation, state, place, steps);
  }
  const legal = isLegalEdge(record.state, state);
  if (!legal && (steps === undefined || steps > hiddenSteps(record, event.sequence))) {
    return { status: "rejected", diagnostic: "illegal_transition", record: received };
  }
  return accepted(enterState(received, observation, state), legal ? place : bridged(place));
}

/** A bridged transition is provisional even where its own sequence closes the last gap before it. */
function bridged(place: SequencePlace): SequencePlace {
  return place === "in_gap" ? "in_gap" : "ahead";
}

/** The first state of a child: its beginning, an adoption, or the middle of a life whose beginning is missing (P10, P12). */
function firstState(
  received: ChildRecord,
  observation: Observation,
  state: State,
  place: SequencePlace,
): EventFold {
  const { event } = observation;
  if (event.kind === "created" && !event.lineage.external) {
    const begun = beginStream(received, event.sequence);
    return accepted(enterState(begun, observation, state), place === "ahead" ? "next" : place);
  }
  const entered = enterState(received, observation, state);
  if (event.lineage.external) return accepted(entered, place);
  return { status: place === "in_gap" ? "gap_filled" : "provisional", diagnostic: "missing_created", record: entered };
}

/** The first state in a new epoch re-asserts the inherited one, follows it, or leaves a gap between the epochs (P10, P12). */
function firstStateOfEpoch(
  received: ChildRecord,
  observation: Observation,
  state: State,
  place: SequencePlace,
  steps: number,
): EventFold {
  const epochGap = steps > 0;
  const reasserted = received.state === state && steps === 0;
  const entered = reasserted ? reassertState(received, observation) : enterState(received, observation, state);
  const after = { ...entered, epochHasState: true, epochGap };
  return epochGap ? { status: "provisional", diagnostic: "epoch_gap", record: after } : accepted(after, place);
}

function enterState(record: ChildRecord, observation: Observation, state: State): ChildRecord {
  const { event, observedAt } = observation;
  const seen = learnFrom(evidenceReceived(record, observation, true), event);
  const learned = event.activity === undefined ? seen : showActivity(seen, observation);
  return {
    ...learned,
    state,
    stateAt: observedAt,
    stateSequence: event.sequence ?? record.highestSequence,
    terminalEvidence: isTerminal(state) ? "event" : undefined,
    facts: learnFactsOfState(learned.facts, event.details, state),
  };
}

/** The state stands since when it began; only its place in the new sequence space is new. */
function reassertState(record: ChildRecord, observation: Observation): ChildRecord {
  const { event } = observation;
  const learned = learnFrom(evidenceReceived(record, observation, true), event);
  return {
    ...learned,
    stateSequence: event.sequence ?? record.highestSequence,
    facts: learnFactsOfState(learned.facts, event.details, record.state as State),
  };
}

function learnFrom(record: ChildRecord, event: LifecycleEvent): ChildRecord {
  const lineage: Lineage = learnLineage(record, event.lineage);
  const capabilities = mergeCapabilities(record.capabilities, capabilitiesFrom(event.capabilities));
  if (lineage === record.lineage && capabilities === record.capabilities && !record.lineageAssumed) return record;
  return { ...record, lineage, capabilities, lineageAssumed: false };
}

/** P9, P10 and P11 differ only in where the sequence stood; a child that still has no state is the rest of P12. */
function accepted(after: ChildRecord, place: SequencePlace): EventFold {
  if (place === "in_gap") return { status: "gap_filled", record: after };
  if (after.state === undefined) return { status: "provisional", diagnostic: "state_unknown", record: after };
  if (place === "ahead") return { status: "provisional", diagnostic: "sequence_gap", record: after };
  return { status: "applied", record: after };
}

function outOfOrder(record: ChildRecord, diagnostic: DiagnosticCode): EventFold {
  return { status: "out_of_order", diagnostic, record: { ...record, outOfOrder: record.outOfOrder + 1 } };
}

function conflict(record: ChildRecord | undefined, diagnostic: DiagnosticCode): EventFold {
  return {
    status: "conflict",
    diagnostic,
    record: record === undefined ? undefined : { ...record, conflicts: record.conflicts + 1 },
  };
}
