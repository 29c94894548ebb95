import { METRIC_DEFINITIONS } from "@agent-lifecycle/collector/parts";
import { describe, expect, it, test } from "vitest";
import { attributesTable } from "../../../kit/attributes-reference.ts";
import { documentedPart } from "../../../kit/documented-part.ts";
import { exposedMetrics, metricsTable } from "../../../kit/metrics-reference.ts";
import { startTestCollector } from "../collector-fixture.ts";

describe("one registry of metrics", () => {
  it("is what /metrics exposes, no more and no less", async () => {
    const { apiUrl } = await startTestCollector();
    const exposition = await (await fetch(`${apiUrl}/metrics`)).text();
    const registered = METRIC_DEFINITIONS.map(({ name, type, description }) => ({ name, type, help: description }));
    expect(exposedMetrics(exposition)).toEqual(registered);
  });

  it("is the same in both formats, whichever was asked for first", async () => {
    const { apiUrl } = await startTestCollector();
    const ask = async (accept: string): Promise<string> =>
      (await fetch(`${apiUrl}/metrics`, { headers: { accept } })).text();
    const before = exposedMetrics(await ask("text/plain"));
    const openMetrics = await ask("application/openmetrics-text");
    expect(exposedMetrics(await ask("text/plain"))).toEqual(before);
    expect(openMetrics).toMatch(/^otelcol_process_uptime_seconds_total /m);
  });

  it("is what docs/telemetry.md lists", () => {
    const table = metricsTable();
    expect(documentedPart("telemetry.md", "metrics", table)).toBe(table);
  });
});

test.each([
  ["log", "log attributes"],
  ["span", "span attributes"],
] as const)("docs/telemetry.md lists the attributes of each %s", (on, marker) => {
  const table = attributesTable(on);
  expect(documentedPart("telemetry.md", marker, table)).toBe(table);
});

describe("names stay the same where a back end makes names by rule", () => {
  test.each(METRIC_DEFINITIONS)("$name", ({ name, type, unit, buckets, labels }) => {
    expect(name).toMatch(/^(?:agent_lifecycle|otelcol)_[a-z_]+$/);
    expect(name.endsWith("_total")).toBe(type === "counter");
    const stem = name.replace(/_total$/, "");
    expect(stem.endsWith("_seconds")).toBe(unit === "s");
    expect(stem.endsWith("_bytes")).toBe(unit === "By");
    // A gauge of the unit 1 would become a `_ratio`; what is in braces is left out of names.
    expect(unit).toMatch(/^(?:s|By|\{[a-z]+\})$/);
    expect(buckets !== undefined).toBe(type === "histogram");
    expect(labels).not.toContain("child_id");
  });
});
