import { describe, expect, test } from "vitest";
import { formatTable } from "../../bench/measure/table.ts";

describe("the table of figures", () => {
  test("a baseline that could not be measured says why, and there is no ratio", () => {
    const baseline = { name: "OpenTelemetry Collector", samples: [], notMeasured: "go is not installed" };
    const line = formatTable([{ what: "ingest", unit: "events/s", samples: [1_000, 3_000, 2_000], baseline }]);
    expect(line).toContain("2,000 events/s");
    expect(line).toContain("OpenTelemetry Collector: not measured (go is not installed)");
    expect(line).not.toContain("×");
  });

  test("a measured baseline is shown with its median and the ratio of each round", () => {
    const baseline = { name: "bare", samples: [10, 20, 40] };
    const line = formatTable([{ what: "subject", unit: "ms", samples: [20, 40, 80], baseline }]);
    expect(line).toMatch(/40 ms +75 % +2× +bare: 20 ms/);
  });
});
