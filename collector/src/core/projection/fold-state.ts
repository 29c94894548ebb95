import { intermediateSteps, isLegalEdge, isTerminal, type State } from "@agent-lifecycle/proto";
import { learnFactsOfState } from "./child-facts.ts";
import type { ChildRecord } from "./child-record.ts";
import { accepted, type EventFold } from "./event-fold.ts";
import { evidenceReceived } from "./evidence.ts";
import { learnFrom, type Observation, showActivity } from "./observation.ts";
import {
  adoptStream,
  beginStream,
  hiddenSteps,
  receiveSequence,
  type SequencePlace,
  trimStart,
} from "./sequence-tracking.ts";

/** P8 to P12 for an event that carries a state. */
export function foldState(
  record: ChildRecord,
  observation: Observation,
  state: State,
  place: SequencePlace,
): EventFold {
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
function firstState(received: ChildRecord, observation: Observation, state: State, place: SequencePlace): EventFold {
  const { event } = observation;
  const entered = trimStart({ ...enterState(received, observation, state), epochHasState: true, epochGap: false });
  if (event.lineage.external) {
    const adopted = adoptStream(entered);
    return accepted(adopted, place === "ahead" && adopted.gaps.length === 0 ? "next" : place);
  }
  if (state === "created") return accepted(beginStream(entered, event.sequence), place === "ahead" ? "next" : place);
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
  // A state that is asserted anew stands since when it began; only its place in the new sequence space is new.
  const reasserted = received.state === state && steps === 0;
  const entered = (reasserted ? heardState : enterState)(received, observation, state);
  const after = trimStart({ ...entered, epochHasState: true, epochGap });
  // The epoch began at 1: now that it has stated a state, nothing is missing below.
  if (!epochGap) return accepted(after, place === "ahead" && after.gaps.length === 0 ? "next" : place);
  return { status: place === "in_gap" ? "gap_filled" : "provisional", diagnostic: "epoch_gap", record: after };
}

function enterState(record: ChildRecord, observation: Observation, state: State): ChildRecord {
  const heard = heardState(record, observation, state);
  const entered = { ...heard, state, stateAt: observation.observedAt, stateFromSnapshot: false };
  if (!isTerminal(state)) return entered;
  // An end answers every question about silence, however old the report of it is.
  return { ...entered, terminalEvidence: "event", stale: undefined, reconciliation: undefined };
}

/** What the report of a state teaches beside the state. */
function heardState(record: ChildRecord, observation: Observation, state: State): ChildRecord {
  const { event } = observation;
  const seen = learnFrom(evidenceReceived(record, observation, true), event);
  const learned = event.activity === undefined ? seen : showActivity(seen, observation);
  return {
    ...learned,
    stateSequence: event.sequence ?? record.highestSequence,
    facts: learnFactsOfState(learned.facts, event.details, state),
  };
}
