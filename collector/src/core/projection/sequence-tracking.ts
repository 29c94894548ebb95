import type { ChildRecord } from "./child-record.ts";
import {
  appendRange,
  includesSequence,
  MAX_RANGES,
  missingBetween,
  newestRanges,
  rangesAbove,
  type SequenceRanges,
  withoutSequence,
} from "./sequence-ranges.ts";

/**
 * Where a sequence stands in what was received of the child's current epoch.
 *
 * next      directly after the highest, or a first one with nothing missing before it
 * ahead     above the highest, with sequences missing between (P11)
 * in_gap    inside an open gap (P9)
 * behind    below the highest, and not missing (P6)
 */
export type SequencePlace = "unsequenced" | "next" | "ahead" | "in_gap" | "behind";

export function placeOf(record: ChildRecord, sequence: number | undefined): SequencePlace {
  if (sequence === undefined) return "unsequenced";
  if (record.highestSequence === undefined) return sequence < firstExpected(record, sequence) ? "next" : "ahead";
  if (sequence > record.highestSequence) return sequence === record.highestSequence + 1 ? "next" : "ahead";
  return includesSequence(record.gaps, sequence) ? "in_gap" : "behind";
}

/**
 * The lowest first sequence of this epoch that leaves something missing below it. Where the epoch has stated no state
 * yet, everything below is missing until a state shows where the stream begins (P12): it may be what was missed. A child
 * that is adopted, or that an authority vouched for, misses nothing.
 */
function firstExpected(record: ChildRecord, sequence: number): number {
  return record.state !== undefined && record.epochHasState ? sequence + 1 : 1;
}

/** The record with the sequence received: the highest moves up, gaps open below it, or the gap it lies in closes. */
export function receiveSequence(record: ChildRecord, sequence: number | undefined): ChildRecord {
  switch (placeOf(record, sequence)) {
    case "unsequenced":
    case "behind":
      return record;
    case "next":
      return { ...record, highestSequence: sequence };
    case "ahead": {
      const received = sequence as number;
      const firstMissing = record.highestSequence === undefined ? 0 : record.highestSequence + 1;
      return { ...withGaps(record, appendRange(record.gaps, firstMissing, received - 1)), highestSequence: received };
    }
    case "in_gap":
      return withGaps(record, withoutSequence(record.gaps, sequence as number));
  }
}

function withGaps(record: ChildRecord, gaps: SequenceRanges): ChildRecord {
  return trimStart({
    ...record,
    gaps: newestRanges(gaps),
    gapsForgotten: record.gapsForgotten || gaps.length > MAX_RANGES,
  });
}

/** P7: the sequence counts as received; nothing is missing after an end. */
export function receiveAfterEnd(record: ChildRecord, sequence: number | undefined): ChildRecord {
  if (sequence === undefined) return record;
  if (sequence > (record.highestSequence ?? -1)) return { ...record, highestSequence: sequence };
  return receiveSequence(record, sequence);
}

/**
 * A later epoch may begin at 1 as well as at 0, and has no `created` to say which: once it has stated a state, a missing
 * 0 alone is no longer awaited.
 */
export function trimStart(record: ChildRecord): ChildRecord {
  const lowest = record.gaps[0];
  const isOptional = record.epochHasState && record.supersededEpochs.length > 0 && lowest?.[0] === 0 && lowest[1] === 0;
  return isOptional ? { ...record, gaps: record.gaps.slice(1) } : record;
}

/** An adopted child claims nothing about its past: below all that was received, nothing is missing (P10). */
export function adoptStream(record: ChildRecord): ChildRecord {
  return record.gaps[0]?.[0] === 0 ? { ...record, gaps: record.gaps.slice(1) } : record;
}

/** A `created` shows where the stream begins: nothing below it was ever sent (P12). */
export function beginStream(record: ChildRecord, sequence: number | undefined): ChildRecord {
  const gaps = sequence === undefined ? record.gaps : rangesAbove(record.gaps, sequence);
  return { ...record, gaps, beginningMissing: false, history: record.lineage.external ? record.history : "complete" };
}

/** Steps that may hide between the last state and an event: sequences between them that were never received (P11). */
export function hiddenSteps(record: ChildRecord, sequence: number | undefined): number {
  if (sequence === undefined || record.stateSequence === undefined || record.highestSequence === undefined) return 0;
  const neverReached = Math.max(0, sequence - record.highestSequence - 1);
  return missingBetween(record.gaps, record.stateSequence, sequence) + neverReached;
}
