import { describe, expect, it } from "vitest";
import { makeEvent } from "../../../kit/events.ts";
import { startHttpDestination } from "../../../kit/http-destination.ts";
import { exposedMetrics } from "../../../kit/metrics-reference.ts";
import { metricsOf, resourceOf, valuesOf } from "../../../kit/otlp-json.ts";
import { otlpHttp, startExporting } from "./exporting-collector.ts";

/** A busy machine needs its time. */
const WAIT = { timeout: 10_000 };

const created = makeEvent({ state: "created", sequence: 1 });

async function exporting() {
  const destination = await startHttpDestination();
  const collector = await startExporting({
    otlp_http: { ...otlpHttp(destination.url, "metrics"), metricsIntervalMs: 20 },
  });
  return { destination, collector };
}

describe("metrics by OTLP", () => {
  it("have the names that a scrape finds, and no others", async () => {
    const { destination, collector } = await exporting();
    await collector.store(created, makeEvent({ state: "cancelled", sequence: 2, at: 5_000 }));
    const before = destination.requests.length;
    await destination.until(() => destination.requests.length > before + 1);
    const request = destination.requests.at(-1);
    const pushed = request === undefined ? [] : metricsOf(request);
    const withSamples = new Set(
      [...(await collector.metrics()).matchAll(/^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{[^\n]*\})? \S+$/gm)].map(
        ([, name]) => name,
      ),
    );
    const scraped = exposedMetrics(await collector.metrics()).filter(({ name }) => withSamples.has(name));
    const names = pushed.map(({ name }) => name as string).toSorted();
    expect(names).toEqual(expect.arrayContaining(["agent_lifecycle_transitions_total", "agent_lifecycle_children"]));
    for (const name of names) expect(scraped.map((metric) => metric.name)).toContain(name);
  });

  it("are sums since the start, gauges, and histograms with their buckets", async () => {
    const { destination, collector } = await exporting();
    await collector.store(created, makeEvent({ state: "cancelled", sequence: 2, at: 5_000 }));
    const before = destination.requests.length;
    await destination.until(() => destination.requests.length > before + 1);
    const request = destination.requests.at(-1);
    if (request === undefined) throw new Error("no request");
    const metric = (name: string) => metricsOf(request).find((one) => one.name === name);
    const transitions = metric("agent_lifecycle_transitions_total").sum;
    expect(transitions).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 });
    expect(transitions.dataPoints.map((point: { attributes: never[] }) => valuesOf(point.attributes))).toContainEqual({
      source: "runner",
      from: "created",
      to: "cancelled",
    });
    expect(metric("agent_lifecycle_queue_bytes").gauge.dataPoints).toHaveLength(1);
    const [duration] = metric("agent_lifecycle_state_duration_seconds").histogram.dataPoints;
    expect(valuesOf(duration.attributes)).toEqual({ state: "created" });
    expect(duration).toMatchObject({ sum: 5 });
    expect(duration.bucketCounts.map(Number)).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(duration.explicitBounds).toHaveLength(12);
    expect(resourceOf(request, "Metrics")["service.instance.id"]).toMatch(/^.+-[0-9a-f]{16}$/);
  });

  it("go on after a refusal and after an outage, with nothing kept in between", async () => {
    const { destination, collector } = await exporting();
    destination.answer = () => ({ code: destination.requests.length < 2 ? 400 : 200 });
    await destination.until(() => destination.requests.length > 3);
    await destination.stop();
    await expect
      .poll(() => collector.metrics(), WAIT)
      .toMatch(/export_retries_total\{exporter="otlp_http:metrics"\} [1-9]/);
    const before = destination.requests.length;
    await destination.restart();
    await destination.until(() => destination.requests.length > before + 1);
    expect(await collector.metrics()).toMatch(/exporter="otlp_http:metrics",outcome="set_aside"\} [1-9]/);
  });

  it("are sent once more when the collector stops", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "metrics") });
    await collector.stop();
    expect(destination.requests).toHaveLength(1);
  });
});
