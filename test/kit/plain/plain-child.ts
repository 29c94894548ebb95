import {
  type Capabilities,
  intermediateSteps,
  isLegalEdge,
  isTerminal,
  type Lineage,
  type State,
} from "@agent-lifecycle/proto";

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
  readonly text: string | undefined;
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
  beginningMissing: boolean;
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
    beginningMissing: false,
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
function missingBefore(child: PlainChild, end: number): readonly number[] {
  const missing: number[] = [];
  // A later epoch may begin at 1 as well as at 0: once it has said where the child stands, nobody waits for a lone 0.
  const mayBeginAtOne = child.epochs.length > 1 && child.epochHasState;
  const isLoneZero = mayBeginAtOne && (child.received.has(1) || child.writtenOff.has(1));
  for (let sequence = isLoneZero ? Math.max(1, child.streamStart) : child.streamStart; sequence < end; sequence += 1) {
    if (!child.received.has(sequence) && !child.writtenOff.has(sequence)) missing.push(sequence);
  }
  return missing;
}

export function missingOf(child: PlainChild): readonly number[] {
  const highest = highestOf(child);
  return highest === undefined ? [] : missingBefore(child, highest);
}

/** The missing sequences as ranges, lowest first. */
function gapsOf(child: PlainChild): readonly (readonly [number, number])[] {
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

function isPlainProvisional(child: PlainChild): boolean {
  return missingOf(child).length > 0 || child.gapsForgotten || child.epochGap || child.beginningMissing;
}

/** P14: an authority has vouched for the child; nothing is missing any more. */
export function settle(child: PlainChild): void {
  for (const sequence of missingOf(child)) child.writtenOff.add(sequence);
  child.gapsForgotten = false;
  child.epochGap = false;
  child.beginningMissing = false;
}

/** Whether `to` may follow within one epoch: by a legal edge, or over enough missing sequences (P10, P11). */
export function mayFollow(child: PlainChild, to: State, sequence: number | undefined): "edge" | "bridge" | "no" {
  const from = currentClaim(child);
  if (from === undefined || isLegalEdge(from.state, to)) return "edge";
  const steps = intermediateSteps(from.state, to);
  if (sequence === undefined || steps === undefined) return "no";
  const { sequence: last } = from;
  if (last === undefined) return "no";
  const between = missingBefore(child, sequence).filter((missing) => missing > last);
  return between.length >= steps ? "bridge" : "no";
}

export function silentSince(child: PlainChild): number {
  return Math.max(...child.evidence, ...child.resumed);
}

/** What there is to compare, in the words of the record (P16). */
export function describePlainChild(child: PlainChild): Readonly<Record<string, unknown>> {
  const claim = currentClaim(child);
  const activity = child.activities.at(-1);
  const lastLate = child.late.findLast(({ state }) => state !== undefined);
  return {
    source: child.source,
    childId: child.childId,
    lineage: child.lineage,
    capabilities: Object.keys(child.capabilities).toSorted(),
    state: claim?.state,
    stateAt: claim?.at,
    terminalEvidence: hasEnded(child) ? claim?.evidence : undefined,
    activity: activity?.text,
    activityAt: activity?.at,
    heartbeatAt: child.heartbeats.length === 0 ? undefined : Math.max(...child.heartbeats.map(({ at }) => at)),
    firstObservedAt: Math.min(...child.observed),
    lastObservedAt: Math.max(...child.observed),
    lastEvidenceAt: Math.max(...child.evidence),
    lastProgressAt: Math.max(...child.progress),
    silentSince: silentSince(child),
    epoch: child.epochs.at(-1),
    highestSequence: highestOf(child),
    gaps: gapsOf(child),
    provisional: isPlainProvisional(child),
    history: child.history,
    stale: child.stale,
    reconciliation: child.request,
    misses: child.misses,
    conflicts: child.conflicts,
    corrections: child.corrections,
    outOfOrder: child.outOfOrder,
    lateEvidence:
      child.late.length === 0
        ? undefined
        : {
            count: child.late.length,
            lastObservedAt: Math.max(...child.late.map(({ at }) => at)),
            lastState: lastLate?.state,
          },
  };
}

/** P4. A parent that one side does not state is no difference. */
export function lineageDiffers(known: Lineage, stated: Lineage): boolean {
  if (known.rootChildId !== stated.rootChildId || known.attempt !== stated.attempt) return true;
  if (known.external !== stated.external) return true;
  if (known.parentChildId === undefined || stated.parentChildId === undefined) return false;
  return known.parentChildId !== stated.parentChildId;
}
