import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, it, onTestFinished } from "vitest";
import { beat, held } from "./held-exporter.ts";

it("the counters are exported through the host's meter provider, with reasons and places", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
  });
  onTestFinished(() => meterProvider.shutdown());
  const { lifecycle, exporter: endpoint, clock } = held({ maxBatchSize: 3, maxBufferedEvents: 8 }, { meterProvider });
  beat(lifecycle, 10);
  await clock.advance(0);
  endpoint.answer();
  await clock.advance(0);
  await meterProvider.forceFlush();
  const points = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap(({ metrics }) => metrics)
    .flatMap(({ descriptor, dataPoints }) => dataPoints.map((point) => ({ name: descriptor.name, ...point })));
  const pointAt = (name: string, attributes: Record<string, string>): unknown =>
    points.find(
      (point) =>
        point.name === name && Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
    )?.value;
  expect(pointAt("agent_lifecycle.sdk.events", { "agent_lifecycle.outcome": "exported" })).toBe(3);
  expect(pointAt("agent_lifecycle.sdk.events", { "error.type": "buffer_full" })).toBe(3);
  expect(pointAt("agent_lifecycle.sdk.waiting", { "agent_lifecycle.place": "buffer" })).toBe(4);
  expect(pointAt("agent_lifecycle.sdk.waiting", { "agent_lifecycle.source": "unit" })).toBe(4);
});
