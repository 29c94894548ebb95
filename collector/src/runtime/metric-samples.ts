/** The collector's metrics at one moment, as values. */
export interface MetricSamples {
  readonly metrics: readonly MetricSample[];
}

export type MetricSample = NumberMetric | HistogramMetric;

interface NamedMetric {
  readonly name: string;
  readonly description: string;
}

export interface NumberMetric extends NamedMetric {
  readonly type: "counter" | "gauge";
  readonly points: readonly { readonly labels: MetricLabels; readonly value: number }[];
}

export interface HistogramMetric extends NamedMetric {
  readonly type: "histogram";
  readonly points: readonly HistogramPoint[];
}

export interface HistogramPoint {
  readonly labels: MetricLabels;
  readonly count: number;
  readonly sum: number;
  /** Upper bounds of the buckets, without the last one, which has none. */
  readonly bounds: readonly number[];
  /** Observations in each bucket, one more than there are bounds. */
  readonly counts: readonly number[];
}

export type MetricLabels = Readonly<Record<string, string>>;
