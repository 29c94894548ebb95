import { type DiagnosticCode, intermediateSteps, isLegalEdge, type LifecycleEvent, parseTimestamp } from "@agent-lifecycle/proto";
import type { InputStatus } from "@agent-lifecycle/collector/projection";
import {
  currentClaim,
  currentState,
  forgetOldGaps,
  hasEnded,
  highestOf,
  mayFollow,
  missingOf,
  type PlainChild,
  type Sighting,
} from "./plain-child.ts";

export interface Verdict {
  readonly status: InputStatus;
  readonly diagnostics: readonly DiagnosticCode[];
}

export interface Arrival {
  readonly event: LifecycleEvent;
  readonly receivedAt: number;
  readonly backfill: boolean;
}

export function verdict(status: InputStatus, ...diagnostics: readonly DiagnosticCode[]): Verdict {
  return { status, diagnostics };
}

export function timeOf(text: string): number {
  const time = parseTimestamp(text);
  if (time === undefined) throw new Error(`not a time: ${text}`);
  return time;
}

/** Rules P5 to P12 for a child that is known. */
export function judgeNextEvent(child: PlainChild, arrival: Arrival): Verdict {
  const { event } = arrival;
  const at = timeOf(event.observedAt);
  const isNewEpoch = event.sourceEpoch !== child.epochs.at(-1);
  if (isNewEpoch && (child.epochs.includes(event.sourceEpoch) || at < Math.min(...child.epochObserved))) {
    child.outOfOrder += 1;
    return verdict("out_of_order", "epoch_superseded");
  }
  if (hasEnded(child)) return judgeAfterTheEnd(child, event, isNewEpoch);
  if (isNewEpoch) enterEpoch(child, event.sourceEpoch);
  return judgeInEpoch(child, arrival);
}

/** P7 and P19, but what precedes the end is merely late (P6). */
function judgeAfterTheEnd(child: PlainChild, event: LifecycleEvent, isNewEpoch: boolean): Verdict {
  const end = currentClaim(child);
  const { sequence } = event;
  const at = timeOf(event.observedAt);
  const precedes =
    !isNewEpoch &&
    (sequence === undefined
      ? event.state !== undefined && end !== undefined && at < end.at
      : end?.sequence !== undefined && sequence < end.sequence);
  if (precedes) return tooLate(child, event);
  if (!isNewEpoch && sequence !== undefined) {
    const highest = highestOf(child) ?? -1;
    for (let skipped = highest + 1; skipped < sequence; skipped += 1) child.writtenOff.add(skipped);
    child.received.add(sequence);
  }
  if (event.kind !== "reconciliation" && event.kind !== "diagnostic") child.late.push({ at, state: event.state });
  return verdict("terminal_immutable", "terminal_immutable");
}

/** P21, and P16: capabilities are known anew in each epoch. */
function enterEpoch(child: PlainChild, epoch: string): void {
  if (missingOf(child).length > 0 || child.gapsForgotten) child.epochGap = true;
  child.epochs.push(epoch);
  child.epochObserved = [];
  child.epochHasState = false;
  child.received = new Set();
  child.writtenOff = new Set();
  child.gapsForgotten = false;
  child.streamStart = 1;
  child.capabilities = {};
  for (const seen of [...child.states, ...child.activities, ...child.heartbeats]) seen.sequence = undefined;
}

function judgeInEpoch(child: PlainChild, arrival: Arrival): Verdict {
  const { event } = arrival;
  const { sequence } = event;
  const highest = highestOf(child);
  const claim = currentClaim(child);
  const isLate = sequence !== undefined && highest !== undefined && sequence < highest;
  const fillsGap = sequence !== undefined && missingOf(child).includes(sequence);
  const jumps = sequence !== undefined && !isLate && hasMissingBelow(child, sequence);

  if (isLate && !(fillsGap && changesSomething(child, event))) return tooLate(child, event);
  if (sequence === undefined && event.state !== undefined && claim !== undefined && timeOf(event.observedAt) < claim.at) {
    return tooLate(child, event);
  }
  if (event.state === undefined) {
    receive(child, event);
    if (event.kind === "activity" || event.kind === "heartbeat") accept(child, arrival);
    if (fillsGap) return verdict("gap_filled");
    return jumps ? verdict("provisional", "sequence_gap") : verdict("applied");
  }

  const isFirstOfEpoch = !child.epochHasState && child.epochs.length > 1;
  const way = isFirstOfEpoch ? wayIntoEpoch(child, event) : mayFollow(child, event.state, sequence);
  if (way === "no") {
    receive(child, event);
    return verdict("rejected", "illegal_transition");
  }
  const isFirstState = claim === undefined;
  receive(child, event);
  accept(child, arrival);
  if (isFirstOfEpoch) child.epochGap = way === "bridge";
  if (isFirstState) beginWith(child, event);
  if (fillsGap) return verdict("gap_filled");
  if (isFirstOfEpoch && way === "bridge") return verdict("provisional", "epoch_gap");
  if (way === "bridge" || jumps) return verdict("provisional", "sequence_gap");
  if (isFirstState && child.beginning === "missing") return verdict("provisional", "missing_created");
  return verdict("applied");
}

function wayIntoEpoch(child: PlainChild, { state }: LifecycleEvent): "edge" | "bridge" | "no" {
  const from = currentState(child);
  if (from === undefined || state === undefined || from === state || isLegalEdge(from, state)) return "edge";
  return intermediateSteps(from, state) === undefined ? "no" : "bridge";
}

/** P6. It fills a gap all the same, and a late `created` shows where the stream begins. */
function tooLate(child: PlainChild, event: LifecycleEvent): Verdict {
  child.outOfOrder += 1;
  receive(child, event);
  if (event.kind === "created" && child.epochs.length === 1) beginWith(child, event);
  return verdict("out_of_order", "out_of_order");
}

/** P9: whether a late event still says something newer than what is known. */
function changesSomething(child: PlainChild, event: LifecycleEvent): boolean {
  const { sequence } = event;
  if (sequence === undefined) return true;
  if (event.state !== undefined) return sequence > (currentClaim(child)?.sequence ?? -1);
  if (event.kind === "activity") return isNewer(child.activities, event);
  return event.kind === "heartbeat" && isNewer(child.heartbeats, event);
}

function isNewer(seen: readonly Sighting[], event: LifecycleEvent): boolean {
  const last = seen.at(-1);
  if (last === undefined) return true;
  if (event.sequence !== undefined && last.sequence !== undefined) return event.sequence > last.sequence;
  return timeOf(event.observedAt) >= last.at;
}

function hasMissingBelow(child: PlainChild, sequence: number): boolean {
  const from = highestOf(child) ?? child.streamStart - 1;
  return sequence > from + 1;
}

function receive(child: PlainChild, { sequence }: LifecycleEvent): void {
  if (sequence !== undefined) child.received.add(sequence);
  forgetOldGaps(child);
}

/** Where the child's beginning is, told by its first state or by a late `created`. */
function beginWith(child: PlainChild, event: LifecycleEvent): void {
  if (event.kind === "created") {
    child.beginning = "seen";
    if (!event.lineage.external) child.history = "complete";
  } else if (event.lineage.external) {
    child.beginning = "adopted";
    child.history = "from_adoption";
  } else return;
  if (event.sequence !== undefined) child.streamStart = event.sequence;
}

/** Takes accepted evidence in: freshness, sightings, state. */
function accept(child: PlainChild, { event, receivedAt, backfill }: Arrival): void {
  const at = timeOf(event.observedAt);
  const evidenceTime = backfill ? Math.min(at, receivedAt) : receivedAt;
  child.observed.push(at);
  child.epochObserved.push(at);
  child.evidence.push(evidenceTime);
  child.stale = undefined;
  child.request = undefined;
  child.misses = 0;
  for (const name of ["history", "heartbeat", "snapshot", "cancel", "terminalCause"] as const) {
    if (event.capabilities[name] === "known") child.capabilities[name] = true;
  }
  const { parentChildId } = event.lineage;
  if (parentChildId !== undefined) child.lineage = { ...child.lineage, parentChildId };
  if (event.state !== undefined || event.kind === "activity") child.progress.push(evidenceTime);
  if (event.activity !== undefined && isNewer(child.activities, event)) {
    child.activities.push({ at, sequence: event.sequence, text: event.activity });
  }
  if (event.kind === "heartbeat" && isNewer(child.heartbeats, event)) {
    child.heartbeats.push({ at, sequence: event.sequence });
  }
  if (event.state !== undefined) {
    const isReasserted = currentState(child) === event.state;
    const sequence = event.sequence ?? highestOf(child);
    const claim = { state: event.state, at: isReasserted ? (currentClaim(child)?.at ?? at) : at, sequence };
    child.states.push({ ...claim, evidence: "event" });
    child.epochHasState = true;
  }
}

/** P10 and P12 for a child that nobody has heard of. */
export function judgeFirstEvent(child: PlainChild, arrival: Arrival): Verdict {
  const { event } = arrival;
  receive(child, event);
  accept(child, arrival);
  if (event.state === undefined) return verdict("provisional", "state_unknown");
  beginWith(child, event);
  return child.beginning === "missing" ? verdict("provisional", "missing_created") : verdict("applied");
}
