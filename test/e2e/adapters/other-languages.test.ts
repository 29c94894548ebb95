import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildrenPage } from "@agent-lifecycle/proto";
import { createJsonlReader, normalizeEvent } from "@agent-lifecycle/proto";
import { adapterFor, emptyAdapterState } from "@agent-lifecycle/sdk/adapters";
import { expect, test } from "vitest";
import { startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { startProgram } from "../../kit/program.ts";

const example = (path: string): string => fileURLToPath(new URL(`../../../examples/${path}`, import.meta.url));
const missing = (program: string, ...argv: string[]): string | false =>
  spawnSync(program, argv).status === 0 ? false : `there is no ${program} here`;

/** The values of JSON lines. */
function linesOf(output: Buffer): readonly Readonly<Record<string, unknown>>[] {
  const reader = createJsonlReader();
  return [...reader.push(output), ...reader.end()].map((item) => (item.ok ? item.value : expect.fail(item.excerpt)));
}

function statesOf(output: Buffer): readonly unknown[] {
  return linesOf(output).flatMap((value) => {
    const normalized = normalizeEvent(value);
    if (!normalized.ok) expect.fail(JSON.stringify(normalized.diagnostic));
    return normalized.event.state ?? [];
  });
}

const withoutPython = missing("python3", "--version");
test.skipIf(withoutPython !== false)(
  `Python tells a child's life with its standard library ${withoutPython || ""}`,
  async () => {
    const { exitCode, stdout } = await startProgram("python3", [example("python/emit.py")]).end;
    expect(exitCode).toBe(0);
    expect(statesOf(stdout)).toEqual(["created", "starting", "running", "completed"]);
  },
);

test.skipIf(withoutPython !== false)(
  `the Python processor of agents writes what is read here ${withoutPython || ""}`,
  async () => {
    const program = `
import sys
sys.path.insert(0, sys.argv[1])
from openai_agents_processor import LifecycleProcessor
class Item:
    def __init__(self, **members): self.members = members
    def export(self): return self.members
processor = LifecycleProcessor(sys.stdout)
agent = {"type": "agent", "name": "A", "output": "secret"}
processor.on_trace_start(Item(id="t", workflow_name="w", metadata={"prompt": "secret"}))
processor.on_span_start(Item(id="s", trace_id="t", span_data=agent))
processor.on_span_end(Item(id="s", trace_id="t", span_data=agent, error={"message": "no credit"}))
processor.on_span_end(None)
processor.on_trace_end(Item(id="t"))
processor.shutdown()
`;
    const { exitCode, stdout } = await startProgram("python3", ["-c", program, example("python")]).end;
    expect(exitCode).toBe(0);
    expect(stdout.toString()).not.toContain("secret");
    const adapter = adapterFor("openai-agents") ?? expect.fail();
    let state = emptyAdapterState("watched", "run");
    for (const value of linesOf(stdout)) state = adapter.map(state, { value, observedAtMs: 0 }).state;
    expect([...state.ended.values()].map((child) => [child.childId, child.state])).toEqual([
      ["s", "failed"],
      ["t", "completed"],
    ]);
  },
);

const withoutBash = missing("bash", "--version");
test.skipIf(withoutBash !== false)(`bash tells a command's life ${withoutBash || ""}`, async () => {
  for (const [command, state] of [
    ["true", "completed"],
    ["false", "failed"],
  ] as const) {
    const { stdout } = await startProgram("bash", [example("bash/emit.sh"), command]).end;
    expect(statesOf(stdout)).toEqual(["created", "starting", "running", state]);
  }
});

const withoutGo = missing("go", "version");
test.skipIf(withoutGo !== false)(
  `Go sends a child's life as OTLP ${withoutGo || ""}`,
  { timeout: 600_000 },
  async () => {
    const folder = temporaryDirectory();
    const collector = await startCollector(join(folder, "collector.db"));
    // The standard library is compiled once for a machine, which takes minutes on a slow one.
    const environment = { HOME: process.env["HOME"] ?? folder, GOTOOLCHAIN: "local" };
    const { exitCode, stderr } = await startProgram("go", ["run", example("go/emit.go"), collector.ingestUrl], {
      environment,
    }).end;
    expect(stderr.toString()).toBe("");
    expect(exitCode).toBe(0);
    const { children } = await collector.get<ChildrenPage>("/api/v1/children");
    expect(children).toMatchObject([
      { source: "go-example", state: "completed", provisional: false, history: "complete" },
    ]);
  },
);
