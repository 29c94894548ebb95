import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildView } from "@agent-lifecycle/proto";
import { expect, test } from "vitest";
import { openChildStream } from "../kit/child-stream.ts";
import { closedPort } from "../kit/closed-port.ts";
import { startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { type Program, runCommand, startNode } from "../kit/program.ts";

const TOKEN = "a-token-between-the-two-5e1b9c";
const example = (name: string): string => fileURLToPath(new URL(`../../examples/authority/${name}`, import.meta.url));

async function startOrchestrator(): Promise<{ readonly program: Program; readonly url: string }> {
  const program = startNode(example("orchestrator.js"), [], {
    environment: {
      AGENT_LIFECYCLE_SNAPSHOT_TOKEN: TOKEN,
      SNAPSHOT_PORT: "0",
      // No event of it ever arrives: whatever the collector knows, it was told when it asked.
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await closedPort()}`,
    },
  });
  const { snapshots } = JSON.parse(await program.line((line) => line.startsWith("{"))) as {
    readonly snapshots: string;
  };
  return { program, url: snapshots };
}

function configuration(url: string): string {
  return `lifecycle: { stale_after: 4s, reconcile_deadline: 4s, check_interval: 200ms }
snapshot_sources:
  http/orchestrator:
    source: orchestrator
    url: ${url}
    token: ${TOKEN}
    interval: 1s
    timeout: 1s
    retry: { initial_interval: 200ms, max_interval: 400ms }
`;
}

function childProcessesOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}

test("the example's configuration can be used", async () => {
  const checked = await runCommand(["config", "check", "--config", example("collector.yaml")], {
    environment: { AGENT_LIFECYCLE_SNAPSHOT_TOKEN: TOKEN },
  });
  expect(checked.stdout.toString()).toContain("can be used");
});

test.skipIf(process.platform !== "linux")(
  "a host whose events are all lost is asked: its children appear, live on, end as they ended, and are lost with it",
  { timeout: 60_000 },
  async () => {
    const orchestrator = await startOrchestrator();
    const folder = temporaryDirectory();
    const file = join(folder, "collector.yaml");
    writeFileSync(file, configuration(orchestrator.url), { mode: 0o600 });
    const collector = await startCollector(join(folder, "collector.db"), ["--config", file]);
    const stream = await openChildStream(collector.apiUrl);
    const seen = new Map<string, ChildView>();
    const until = async (isReached: (children: readonly ChildView[]) => boolean): Promise<void> => {
      if (isReached([...seen.values()])) return;
      await stream.until((child) => {
        seen.set(child.childId, child);
        return isReached([...seen.values()]);
      });
    };
    await until((children) => children.filter(({ state }) => state === "running").length === 2);
    const [one] = [...seen.values()];
    expect(one).toMatchObject({ source: "orchestrator", history: "partial", stale: null });

    const [first] = childProcessesOf(orchestrator.program.pid);
    process.kill(Number(first), "SIGKILL");
    await until((children) => children.some(({ state }) => state === "failed"));
    const failed = [...seen.values()].find(({ state }) => state === "failed");
    expect(failed).toMatchObject({ terminalEvidence: "authoritative_snapshot" });
    const alive = [...seen.values()].find(({ state }) => state === "running");

    const [orphan] = childProcessesOf(orchestrator.program.pid);
    orchestrator.program.process.kill("SIGKILL");
    process.kill(Number(orphan), "SIGKILL");
    await until((children) => children.some(({ state }) => state === "lost"));
    expect(await collector.get(`/api/v1/children/orchestrator/${alive?.childId}`)).toMatchObject({
      state: "lost",
      terminalEvidence: "failed_reconciliation",
    });
    expect(await collector.get(`/api/v1/children/orchestrator/${failed?.childId}`)).toMatchObject({ state: "failed" });
    const { stdout, stderr } = await collector.endBy("SIGTERM");
    expect(stdout.toString() + stderr.toString()).not.toContain(TOKEN);
  },
);
