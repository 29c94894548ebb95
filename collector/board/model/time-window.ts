/** A stretch of time that is in sight. Milliseconds since the epoch. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

const SHORTEST_MS = 1_000;
const LONGEST_MS = 400 * 86_400_000;

/** Makes it shorter or longer around a place. @param share where the place is, 0 to 1 */
export function zoomed({ from, to }: TimeWindow, factor: number, share = 0.5): TimeWindow {
  const span = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (to - from) * factor));
  const place = from + (to - from) * share;
  return { from: place - span * share, to: place + span * (1 - share) };
}

export function moved({ from, to }: TimeWindow, share: number): TimeWindow {
  const by = (to - from) * share;
  return { from: from + by, to: to + by };
}

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000,
  2_592_000_000,
] as const;

/** Round times inside a window, at most so many. */
export function roundTimes({ from, to }: TimeWindow, most: number): readonly number[] {
  const step = STEPS_MS.find((candidate) => (to - from) / candidate <= most) ?? STEPS_MS[STEPS_MS.length - 1] ?? 1;
  const times: number[] = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) times.push(time);
  return times;
}
