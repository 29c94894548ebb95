import { expect, test } from "vitest";
import { documentedPart } from "../../kit/documented-part.ts";
import { metricsTable } from "../../kit/metrics-reference.ts";
import { startTestCollector } from "./collector-fixture.ts";

test("docs/operations.md lists exactly the metrics that the collector has", async () => {
  const { apiUrl } = await startTestCollector();
  const exposition = await (await fetch(`${apiUrl}/metrics`)).text();
  const table = metricsTable(exposition);
  expect(documentedPart("operations.md", "metrics", table)).toBe(table);
});
