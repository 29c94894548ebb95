import { Counter, Gauge, Histogram } from "prom-client";
import type { MetricDefinition } from "../telemetry/metric-definition.ts";
import type { MetricRegisters } from "./metric-registers.ts";

/** Makes instruments from what the registry of names says of them, and from nothing else. */
export interface Instruments {
  counter<Label extends string>(definition: MetricDefinition<Label>): CountingCounter<Label>;
  gauge<Label extends string>(definition: MetricDefinition<Label>): Gauge<Label>;
  histogram<Label extends string>(definition: MetricDefinition<Label>): ObservedHistogram<Label>;
}

/** What is counted, in both formats. */
export interface CountingCounter<Label extends string> {
  inc(labels: Readonly<Partial<Record<Label, string>>>, value?: number): void;
  reset(): void;
}

/** A histogram whose observations can name a trace, which OpenMetrics shows as an exemplar. */
export interface ObservedHistogram<Label extends string> {
  observe(labels: Readonly<Partial<Record<Label, string>>>, value: number, traceId?: string): void;
}

export function createInstruments(registers: MetricRegisters): Instruments {
  const [prometheus, openMetrics] = registers;
  return {
    counter: (definition) => {
      // To show a counter in OpenMetrics the library takes the suffix from its name, for good: each format has its own.
      const shown = [prometheus, openMetrics].map(
        (register) => new Counter({ ...describe(definition), registers: [register] }),
      );
      return {
        inc: (labels, value) => {
          for (const counter of shown) counter.inc(labels, value);
        },
        reset: () => {
          for (const counter of shown) counter.reset();
        },
      };
    },
    gauge: (definition) => new Gauge({ ...describe(definition), registers: [...registers] }),
    histogram: (definition) => {
      const settings = { ...describe(definition), buckets: [...(definition.buckets ?? [])] };
      // The older text format cannot carry exemplars, and a metric that has them cannot be shown in it.
      const plain = new Histogram({ ...settings, registers: [prometheus] });
      const withExemplars = new Histogram({ ...settings, enableExemplars: true, registers: [openMetrics] });
      return {
        observe: (labels, value, traceId) => {
          plain.observe(labels, value);
          withExemplars.observe({ labels, value, exemplarLabels: exemplarOf(traceId) });
        },
      };
    },
  };
}

/** The library's type takes the labels of an exemplar for labels of the metric. */
function exemplarOf<Label extends string>(traceId: string | undefined): Partial<Record<Label, string>> {
  if (traceId === undefined) return {};
  return { trace_id: traceId } as Partial<Record<Label | "trace_id", string>>;
}

function describe<Label extends string>({
  name,
  description,
  labels,
}: MetricDefinition<Label>): {
  readonly name: string;
  readonly help: string;
  readonly labelNames: Label[];
} {
  return { name, help: description, labelNames: [...labels] };
}
