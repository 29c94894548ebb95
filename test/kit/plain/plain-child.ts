import { type Capabilities, intermediateSteps, isLegalEdge, isTerminal, type Lineage, type State } from "@agent-lifecycle/proto";

/** A state that was accepted for a child. */
export interface StateClaim {
  readonly state: State;
  readonly at: number;
  /** Undefined when the claim lies in an epoch that was left behind, or before anything sequenced. */
  sequence: number | undefined;
  readonly evidence: "event" | "authoritative_snapshot" | "failed_reconciliation";
}

export interface Sighting {
  readonly at: number;
  sequence: number | undefined;
  readonly text?: string;
}

/**
 * All that is known of one child, as lists of what happened. Whatever a reader wants to know is worked out from the
 * lists each time: slow, and easy to hold against the contract.
 */
export interface PlainChild {
  readonly source: string;
  readonly childId: string;
  lineage: Lineage;
  lineageAssumed: boolean;
  capabilities: Partial<Record<keyof Capabilities, true>>;
  readonly states: StateClaim[];
  readonly activities: Sighting[];
  readonly heartbeats: Sighting[];
  /** When the source saw it, of all accepted evidence. */
  readonly observed: number[];
  readonly evidence: number[];
  readonly progress: number[];
  readonly resumed: number[];
  /** Every epoch, the current one last. */
  readonly epochs: string[];
  epochObserved: number[];
  epochHasState: boolean;
  epochGap: boolean;
  /** Sequences of the current epoch that were received, whatever became of them. */
  received: Set<number>;
  /** Where the sequences of this epoch are taken to begin. */
  streamStart: number;
  /** Missing sequences that nobody waits for any longer. */
  writtenOff: Set<number>;
  gapsForgotten: boolean;
  beginning: "seen" | "adopted" | "vouched" | "missing";
  history: "complete" | "from_adoption" | "partial";
  stale: { readonly since: number; readonly reason: "deadline" | "snapshot_omission" } | undefined;
  request: { readonly requestedAt: number; readonly deadline: number } | undefined;
  misses: number;
  conflicts: number;
  corrections: number;
  outOfOrder: number;
  readonly late: { readonly at: number; readonly state: State | undefined }[];
}

export function createPlainChild(source: string, childId: string, lineage: Lineage, epoch: string): PlainChild {
  return {
    source,
    childId,
    lineage,
    lineageAssumed: false,
    capabilities: {},
    states: [],
    activities: [],
    heartbeats: [],
    observed: [],
    evidence: [],
    progress: [],
    resumed: [],
    epochs: [epoch],
    epochObserved: [],
    epochHasState: false,
    epochGap: false,
    received: new Set(),
    streamStart: 0,
    writtenOff: new Set(),
    gapsForgotten: false,
    beginning: "missing",
    history: "partial",
    stale: undefined,
    request: undefined,
    misses: 0,
    conflicts: 0,
    corrections: 0,
    outOfOrder: 0,
    late: [],
  };
}

export function currentClaim(child: PlainChild): StateClaim | undefined {
  return child.states.at(-1);
}

export function currentState(child: PlainChild): State | undefined {
  return currentClaim(child)?.state;
}

export function hasEnded(child: PlainChild): boolean {
  return isTerminal(currentState(child));
}

export function highestOf(child: PlainChild): number | undefined {
  return child.received.size === 0 ? undefined : Math.max(...child.received);
}

/** Every sequence that is awaited, one by one, up to but not including `end`. */
export function missingBefore(child: PlainChild, end: number): readonly number[] {
  const missing: number[] = [];
  for (let sequence = child.streamStart; sequence < end; sequence += 1) {
    if (!child.received.has(sequence) && !child.writtenOff.has(sequence)) missing.push(sequence);
  }
  return missing;
}

export function missingOf(child: PlainChild): readonly number[] {
  const highest = highestOf(child);
  return highest === undefined ? [] : missingBefore(child, highest);
}

/** The missing sequences as ranges, lowest first. */
export function gapsOf(child: PlainChild): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const sequence of missingOf(child)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === sequence - 1) last[1] = sequence;
    else ranges.push([sequence, sequence]);
  }
  return ranges;
}

/** P11: the 64 newest ranges are kept. */
export function forgetOldGaps(child: PlainChild): void {
  const ranges = gapsOf(child);
  for (const [from, to] of ranges.slice(0, Math.max(0, ranges.length - 64))) {
    child.gapsForgotten = true;
    for (let sequence = from; sequence <= to; sequence += 1) child.writtenOff.add(sequence);
  }
}

export function isPlainProvisional(child: PlainChild): boolean {
  return missingOf(child).length > 0 || child.gapsForgotten || child.epochGap || child.beginning === "missing";
}

/** P14: an authority has vouched for the child; nothing is missing any more. */
export function settle(child: PlainChild): void {
  for (const sequence of missingOf(child)) child.writtenOff.add(sequence);
  child.gapsForgotten = false;
  child.epochGap = false;
  if (child.beginning === "missing") child.beginning = "vouched";
}

/** Whether `to` may follow within one epoch: by a legal edge, or over enough missing sequences (P10, P11). */
export function mayFollow(child: PlainChild, to: State, sequence: number | undefined): "edge" | "bridge" | "no" {
  const from = currentClaim(child);
  if (from === undefined || isLegalEdge(from.state, to)) return "edge";
  const steps = intermediateSteps(from.state, to);
  if (sequence === undefined || steps === undefined) return "no";
  const between = missingBefore(child, sequence).filter((missing) => missing > (from.sequence ?? -1));
  return between.length >= steps ? "bridge" : "no";
}

export function silentSince(child: PlainChild): number {
  return Math.max(...child.evidence, ...child.resumed);
}
