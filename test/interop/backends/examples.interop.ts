import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { builtOrInstalled, builtOrLeft, type Found, OTEL_PIPELINE, PROMTOOL } from "./programs.ts";

const run = promisify(execFile);
const EXAMPLES = fileURLToPath(new URL("../../../examples/", import.meta.url));

describe("examples/otel-collector", () => {
  let collector: Found;
  beforeAll(async () => {
    collector = await builtOrLeft(OTEL_PIPELINE, "go.opentelemetry.io/collector/otelcol");
  });

  const files = readdirSync(`${EXAMPLES}otel-collector`).filter((name) => name.endsWith(".yaml"));
  test.for(files)("a real OpenTelemetry Collector validates %s", async (name, { skip }) => {
    // What was not run has not passed.
    if (!collector.isThere) return skip(`not run: ${collector.reason}`);
    const env = { ...process.env, STATE_DIRECTORY: temporaryDirectory() };
    const file = `file:${EXAMPLES}otel-collector/${name}`;
    await expect(run(collector.path, ["validate", "--config", file], { env })).resolves.toBeDefined();
  });

  test("and refuses what is none", async ({ skip }) => {
    if (!collector.isThere) return skip(`not run: ${collector.reason}`);
    const broken = ["validate", "--config", `file:${EXAMPLES}grafana/collector.yaml`];
    await expect(run(collector.path, broken)).rejects.toThrow();
  });
});

describe("examples/grafana", () => {
  test("the alerts do what their tests say", async ({ skip }) => {
    const promtool = await builtOrInstalled(PROMTOOL, "github.com/prometheus/prometheus");
    if (!promtool.isThere) return skip(`not run: ${promtool.reason}`);
    const cwd = `${EXAMPLES}grafana/prometheus`;
    await run(promtool.path, ["check", "rules", "agent-lifecycle.rules.yml"], { cwd });
    const { stdout } = await run(promtool.path, ["test", "rules", "agent-lifecycle.rules.test.yml"], { cwd });
    expect(stdout).toContain("SUCCESS");
    await run(promtool.path, ["check", "config", "prometheus.yml"], { cwd });
  });
});
