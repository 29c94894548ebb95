/** Open gaps: disjoint, ascending, inclusive ranges of sequences that were never received. */
export type SequenceRanges = readonly (readonly [from: number, to: number])[];

export const NO_RANGES: SequenceRanges = [];

/** Ranges a record keeps (P11). */
export const MAX_RANGES = 64;

export function includesSequence(ranges: SequenceRanges, sequence: number): boolean {
  return ranges.some(([from, to]) => from <= sequence && sequence <= to);
}

/** Adds a range above all others. */
export function appendRange(ranges: SequenceRanges, from: number, to: number): SequenceRanges {
  return [...ranges, [from, to] as const];
}

/** Removes one sequence, which may split a range in two. */
export function withoutSequence(ranges: SequenceRanges, sequence: number): SequenceRanges {
  const rest = ranges.flatMap(([from, to]): SequenceRanges => {
    if (sequence < from || sequence > to) return [[from, to]];
    const below: SequenceRanges = from < sequence ? [[from, sequence - 1]] : [];
    return sequence < to ? [...below, [sequence + 1, to]] : below;
  });
  return sharedIfEmpty(rest);
}

/** The newest ranges that a record may keep. */
export function newestRanges(ranges: SequenceRanges): SequenceRanges {
  return ranges.length > MAX_RANGES ? ranges.slice(ranges.length - MAX_RANGES) : ranges;
}

/** Keeps what lies above a sequence: a stream that begins there is missing nothing below it. */
export function rangesAbove(ranges: SequenceRanges, sequence: number): SequenceRanges {
  const above = ranges.flatMap(
    ([from, to]): SequenceRanges => (to <= sequence ? [] : [[Math.max(from, sequence + 1), to]]),
  );
  return sharedIfEmpty(above);
}

/** Nearly every child misses nothing: they all hold the same nothing. */
function sharedIfEmpty(ranges: SequenceRanges): SequenceRanges {
  return ranges.length === 0 ? NO_RANGES : ranges;
}

/** How many missing sequences lie strictly between two received ones. */
export function missingBetween(ranges: SequenceRanges, above: number, below: number): number {
  let missing = 0;
  for (const [from, to] of ranges) {
    const first = Math.max(from, above + 1);
    const last = Math.min(to, below - 1);
    if (first <= last) missing += last - first + 1;
  }
  return missing;
}
