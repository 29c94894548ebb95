import { median } from "./statistics.ts";

/** What was measured against, in the same run and in turns with the subject. */
export interface Baseline {
  readonly name: string;
  readonly samples: readonly number[];
  /** Why there are no samples. */
  readonly notMeasured?: string;
}

/** One line of the table. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  /** One value a round. */
  readonly samples: readonly number[];
  readonly baseline?: Baseline;
  /** What design asks for, in words; shown beside the figure and never judged here. */
  readonly budget?: string;
}

/** How many times the baseline the subject is: the median over rounds, so that what slows a whole round cancels out. */
export function ratioOf({ samples, baseline }: Figure): number | undefined {
  if (baseline === undefined || baseline.samples.length === 0) return undefined;
  return median(samples.map((sample, round) => sample / (baseline.samples[round] ?? Number.NaN)));
}
