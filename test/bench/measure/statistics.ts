/** The value below which a share of the samples lies, by the nearest rank. `share` in 0–1. NaN without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((first, second) => first - second);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** How far the samples lie apart, as a share of their median. 0 for one sample. */
export function spread(samples: readonly number[]): number {
  return (Math.max(...samples) - Math.min(...samples)) / Math.abs(median(samples));
}
