import type { InputStatus } from "@agent-lifecycle/collector/projection";
import {
  CAPABILITY_NAMES,
  type Capabilities,
  type DiagnosticCode,
  intermediateSteps,
  isLegalEdge,
  isTerminal,
  type LifecycleEvent,
  type Lineage,
  parseTimestamp,
} from "@agent-lifecycle/proto";
import {
  createPlainChild,
  currentClaim,
  currentState,
  forgetOldGaps,
  hasEnded,
  highestOf,
  mayFollow,
  missingOf,
  type PlainChild,
  type Sighting,
  silentSince,
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
  if (isNewEpoch) {
    // Nothing of it is used, its epoch neither.
    if (isEarlierState(child, event)) {
      child.outOfOrder += 1;
      return verdict("out_of_order", "out_of_order");
    }
    enterEpoch(child, event.sourceEpoch, at);
  }
  return judgeInEpoch(child, arrival);
}

/** P7 and P19, but what precedes the end is merely late (P6). */
function judgeAfterTheEnd(child: PlainChild, event: LifecycleEvent, isNewEpoch: boolean): Verdict {
  const end = currentClaim(child);
  const { sequence } = event;
  const at = timeOf(event.observedAt);
  const precedes =
    sequence === undefined ? isEarlierState(child, event) : end?.sequence !== undefined && sequence < end.sequence;
  if (!isNewEpoch && precedes) return tooLate(child, event);
  if (!isNewEpoch && sequence !== undefined) {
    const highest = highestOf(child) ?? -1;
    for (let skipped = highest + 1; skipped < sequence; skipped += 1) child.writtenOff.add(skipped);
    child.received.add(sequence);
  }
  if (event.kind !== "reconciliation" && event.kind !== "diagnostic") child.late.push({ at, state: event.state });
  return verdict("terminal_immutable", "terminal_immutable");
}

function isEarlierState(child: PlainChild, event: LifecycleEvent): boolean {
  const claim = currentClaim(child);
  return (
    event.sequence === undefined &&
    event.state !== undefined &&
    claim !== undefined &&
    timeOf(event.observedAt) < claim.at
  );
}

/** P21, and P16: capabilities are known anew in each epoch. */
export function enterEpoch(child: PlainChild, epoch: string, at: number): void {
  if (missingOf(child).length > 0 || child.gapsForgotten) child.epochGap = true;
  child.epochs.push(epoch);
  child.epochObserved = [at];
  child.epochHasState = false;
  child.received = new Set();
  child.writtenOff = new Set();
  child.gapsForgotten = false;
  child.streamStart = 0;
  child.capabilities = {};
  for (const seen of [...child.states, ...child.activities, ...child.heartbeats]) seen.sequence = undefined;
}

function judgeInEpoch(child: PlainChild, arrival: Arrival): Verdict {
  const { event } = arrival;
  const { sequence } = event;
  const highest = highestOf(child);
  const fillsGap = sequence !== undefined && missingOf(child).includes(sequence);
  const isLate = sequence !== undefined && highest !== undefined && sequence <= highest;
  if (isLate && !(fillsGap && changesSomething(child, event))) return tooLate(child, event);
  if (isEarlierState(child, event)) return tooLate(child, event);
  if (event.state === undefined) return judgeSign(child, arrival, fillsGap);
  if (currentClaim(child) === undefined) return judgeFirstState(child, arrival, fillsGap);

  const way = child.epochHasState ? mayFollow(child, event.state, sequence) : wayIntoEpoch(child, event);
  const isFirstOfEpoch = !child.epochHasState;
  // A later epoch may begin with its state at 1 as well as at 0.
  if (isFirstOfEpoch && way !== "no" && highest === undefined && sequence === 1) child.streamStart = 1;
  const jumps = receive(child, event);
  if (way === "no") return verdict("rejected", "illegal_transition");
  accept(child, arrival);
  if (isFirstOfEpoch) child.epochGap = way === "bridge";
  if (isFirstOfEpoch && way === "bridge") return verdict(fillsGap ? "gap_filled" : "provisional", "epoch_gap");
  if (fillsGap) return verdict("gap_filled");
  return way === "bridge" || jumps ? verdict("provisional", "sequence_gap") : verdict("applied");
}

/** Kinds without a state. Of them, only activities and heartbeats are evidence of life (P15). */
function judgeSign(child: PlainChild, arrival: Arrival, fillsGap: boolean): Verdict {
  const jumps = receive(child, arrival.event);
  if (isSignOfLife(arrival.event)) accept(child, arrival);
  if (fillsGap) return verdict("gap_filled");
  if (currentClaim(child) === undefined) return verdict("provisional", "state_unknown");
  return jumps ? verdict("provisional", "sequence_gap") : verdict("applied");
}

function isSignOfLife({ kind }: LifecycleEvent): boolean {
  return kind !== "reconciliation" && kind !== "diagnostic";
}

/** P10 and P12: the first state of a child, which may have been heard of before. */
function judgeFirstState(child: PlainChild, arrival: Arrival, fillsGap: boolean): Verdict {
  const { event } = arrival;
  const jumps = receive(child, event);
  accept(child, arrival);
  child.epochGap = false;
  const isBeginning = event.state === "created" && !event.lineage.external;
  if (isBeginning) beginWith(child, event.sequence);
  if (event.lineage.external) forgetTheUnseenPast(child);
  if (!isBeginning && !event.lineage.external)
    return verdict(fillsGap ? "gap_filled" : "provisional", "missing_created");
  if (fillsGap) return verdict("gap_filled");
  return jumps && missingOf(child).length > 0 ? verdict("provisional", "sequence_gap") : verdict("applied");
}

/** An adopted child claims nothing about its past: what lies below all that was received is not missing. */
function forgetTheUnseenPast(child: PlainChild): void {
  if (child.received.size > 0) child.streamStart = Math.min(...child.received);
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
  if (event.state === "created" && !event.lineage.external) beginWith(child, event.sequence);
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
  if (event.sequence !== undefined) return last.sequence === undefined || event.sequence > last.sequence;
  return timeOf(event.observedAt) >= last.at;
}

/**
 * The sequence counts as received. A first one of a child that is known in some state of this epoch says nothing of those
 * below it.
 * @returns whether it jumped over missing ones.
 */
function receive(child: PlainChild, { sequence }: LifecycleEvent): boolean {
  if (sequence === undefined) return false;
  const highest = highestOf(child);
  if (highest === undefined && child.epochHasState) child.streamStart = sequence;
  const jumps = sequence > (highest ?? child.streamStart - 1) + 1;
  child.received.add(sequence);
  forgetOldGaps(child);
  return jumps;
}

/** A `created` shows where the stream begins. */
function beginWith(child: PlainChild, sequence: number | undefined): void {
  child.beginningMissing = false;
  child.history = "complete";
  if (sequence !== undefined) child.streamStart = Math.max(child.streamStart, sequence);
}

/** Takes accepted evidence in: freshness, sightings, state. */
function accept(child: PlainChild, { event, receivedAt, backfill }: Arrival): void {
  const at = timeOf(event.observedAt);
  const evidenceTime = backfill ? Math.min(at, receivedAt) : receivedAt;
  if (!backfill || evidenceTime > silentSince(child) || isTerminal(event.state)) {
    child.stale = undefined;
    child.request = undefined;
  }
  child.misses = 0;
  child.observed.push(at);
  child.epochObserved.push(at);
  child.evidence.push(evidenceTime);
  if (event.state !== undefined || event.kind === "activity") child.progress.push(evidenceTime);
  learnCapabilities(child, event.capabilities);
  learnLineage(child, event.lineage);

  const sequence = event.sequence ?? highestOf(child);
  if ((event.kind === "activity" || event.activity !== undefined) && isNewer(child.activities, event)) {
    child.activities.push({ at, sequence, text: event.activity });
  }
  if (event.kind === "heartbeat") child.heartbeats.push({ at, sequence, text: undefined });
  if (event.state !== undefined) {
    const before = currentClaim(child);
    const isReasserted = before?.state === event.state && !child.epochHasState;
    const since = isReasserted ? before.at : at;
    child.states.push({ state: event.state, at: since, sequence, evidence: "event" });
    child.epochHasState = true;
  }
}

export function learnCapabilities(child: PlainChild, stated: Capabilities | undefined): void {
  for (const name of CAPABILITY_NAMES) if (stated?.[name] === "known") child.capabilities[name] = true;
}

export function learnLineage(child: PlainChild, stated: Lineage): void {
  if (child.lineageAssumed) child.lineage = stated;
  child.lineageAssumed = false;
  const { parentChildId, adoptedAt } = { ...stated, ...child.lineage };
  child.lineage = {
    ...child.lineage,
    ...(parentChildId === undefined ? undefined : { parentChildId }),
    ...(adoptedAt === undefined ? undefined : { adoptedAt }),
  };
}

/** A child that nobody has heard of, as its first event finds it. */
export function openChild({ event, receivedAt, backfill }: Arrival): PlainChild {
  const child = createPlainChild(event.source, event.childId, event.lineage, event.sourceEpoch);
  const at = timeOf(event.observedAt);
  const evidenceTime = backfill ? Math.min(at, receivedAt) : receivedAt;
  child.observed.push(at);
  child.epochObserved.push(at);
  child.evidence.push(evidenceTime);
  child.progress.push(evidenceTime);
  child.beginningMissing = !event.lineage.external;
  child.history = event.lineage.external ? "from_adoption" : "partial";
  return child;
}
