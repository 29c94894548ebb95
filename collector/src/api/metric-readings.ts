import type { OpenMetricsContentType, Registry } from "prom-client";
import type {
  HistogramPoint,
  MetricLabels,
  MetricSample,
  MetricSamples,
  NumberMetric,
} from "../runtime/metric-samples.ts";

/** One value as the library reports it. Of a histogram: one line of its exposition. */
interface Reading {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string;
}

/** Everything that a registry holds, as values under the names of the registry of names. */
export async function samplesOf(registry: Registry<OpenMetricsContentType>): Promise<MetricSamples> {
  const readings = await registry.getMetricsAsJSON();
  return {
    metrics: readings.map((metric): MetricSample => {
      const { name, help: description } = metric;
      const values = metric.values as readonly Reading[];
      const type = String(metric.type);
      if (type === "histogram") return { name, description, type, points: histogramPoints(name, values) };
      const points = values.map(({ labels, value }) => ({ labels: labelsOf(labels), value }));
      return type === "counter"
        ? { name: counterName(name), description, type, points }
        : ({ name, description, type: "gauge", points } satisfies NumberMetric);
    }),
  };
}

/** OpenMetrics names a counter's family without the suffix that its samples have; so does the library, at times. */
function counterName(name: string): string {
  return name.endsWith("_total") ? name : `${name}_total`;
}

interface GrowingPoint {
  readonly labels: MetricLabels;
  readonly cumulative: [bound: number, count: number][];
  count: number;
  sum: number;
}

function histogramPoints(name: string, values: readonly Reading[]): readonly HistogramPoint[] {
  const points = new Map<string, GrowingPoint>();
  for (const { labels, value, metricName } of values) {
    const { le, ...own } = labels;
    const key = JSON.stringify(own);
    const point = points.get(key) ?? { labels: labelsOf(own), cumulative: [], count: 0, sum: 0 };
    points.set(key, point);
    if (metricName === `${name}_sum`) point.sum = value;
    else if (metricName === `${name}_count`) point.count = value;
    else if (le !== "+Inf") point.cumulative.push([Number(le), value]);
  }
  return [...points.values()].map(({ cumulative, ...point }) => {
    const sorted = cumulative.toSorted(([one], [other]) => one - other);
    const counts = [...sorted.map(([, count]) => count), point.count];
    return {
      ...point,
      bounds: sorted.map(([bound]) => bound),
      counts: counts.map((count, index) => count - (counts[index - 1] ?? 0)),
    };
  });
}

function labelsOf(labels: Reading["labels"]): MetricLabels {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}
