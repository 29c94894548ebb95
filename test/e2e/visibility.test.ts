import { join } from "node:path";
import type { DiagnosticsPage, LifecycleEvent, SourcesView, SourceView } from "@agent-lifecycle/proto";
import { createLifecycle } from "@agent-lifecycle/sdk";
import { expect, it, onTestFinished } from "vitest";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { submit } from "../kit/submit.ts";

async function sourceOf(collector: CollectorProcess, name: string): Promise<SourceView | undefined> {
  const { sources } = await collector.get<SourcesView>("/api/v1/sources");
  return sources.find(({ source }) => source === name);
}

it("a declaration reaches the collector, is shown with its source, and is still there after a restart", async () => {
  const database = join(temporaryDirectory(), "collector.db");
  const collector = await startCollector(database);
  const lifecycle = createLifecycle(
    { source: "dispatcher", endpoint: collector.ingestUrl, exitHooks: false },
    { environment: {} },
  );
  onTestFinished(async () => {
    await lifecycle.shutdown({ timeoutMs: 0 });
  });
  const child = lifecycle.child({ capabilities: { cancel: "known" } });
  child.declareVisibility({ details: { model: "large-1" } });
  child.starting();
  child.running();
  child.activity("works");
  await lifecycle.flush();
  const declared = await sourceOf(collector, "dispatcher");
  expect(declared?.visibility).toMatchObject({
    contract: {
      child: { childId: child.childId },
      capabilities: { cancel: "known", heartbeat: "known" },
      details: { model: "large-1" },
    },
    declaredAt: expect.any(String),
    mismatches: [],
  });
  await collector.endBy("SIGTERM");
  const again = await startCollector(database);
  expect((await sourceOf(again, "dispatcher"))?.visibility?.contract).toEqual(declared?.visibility?.contract);
});

it("what differs from the declaration is told once and counted, and changes no child", async () => {
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
  const lifecycle = createLifecycle({ source: "runner", jsonl: "stderr", exitHooks: false }, { environment: {} });
  const contract = lifecycle.visibilityContract({ capabilities: { activity: "unknown", heartbeat: "unknown" } });
  await lifecycle.shutdown();
  const events: readonly LifecycleEvent[] = [
    makeEvent({ state: "created", sequence: 1 }),
    makeEvent({ kind: "diagnostic", sequence: 2, details: { visibilityContract: contract } as never }),
    makeEvent({ state: "starting", sequence: 3 }),
    makeEvent({ kind: "heartbeat", sequence: 4 }),
    makeEvent({ kind: "heartbeat", sequence: 5 }),
    makeEvent({ kind: "activity", activity: "works", at: 7 }),
  ];
  await submit(collector.ingestUrl, events);
  const { visibility } = (await sourceOf(collector, "runner")) ?? {};
  expect(visibility?.mismatches.map(({ path, count }) => [path, count])).toEqual([
    ["capabilities.heartbeat", 2],
    ["events.sequence", 1],
    ["capabilities.activity", 1],
  ]);
  await expect
    .poll(async () => {
      const page = await collector.get<DiagnosticsPage>("/api/v1/diagnostics?code=visibility_mismatch");
      return page.diagnostics.map(({ path }) => path).sort();
    })
    .toEqual(["capabilities.activity", "capabilities.heartbeat", "events.sequence"]);
  const children = await collector.get<{ children: readonly { state: string }[] }>("/api/v1/children");
  expect(children.children.map(({ state }) => state)).toEqual(["starting"]);
});

it("nobody declares the visibility of another source, and nonsense is told", async () => {
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
  await submit(collector.ingestUrl, [
    makeEvent({ state: "created", sequence: 1 }),
    makeEvent({ kind: "diagnostic", sequence: 2, details: { visibilityContract: { contractVersion: 9 } } as never }),
  ]);
  expect((await sourceOf(collector, "runner"))?.visibility).toBeUndefined();
  await expect
    .poll(async () => {
      const page = await collector.get<DiagnosticsPage>("/api/v1/diagnostics?code=visibility_mismatch");
      return page.diagnostics.length;
    })
    .toBe(1);
});

it("an authority that is declared and that nobody asks here is told", async () => {
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
  const lifecycle = createLifecycle({ source: "runner", jsonl: "stderr", exitHooks: false }, { environment: {} });
  const declared = lifecycle.visibilityContract();
  await lifecycle.shutdown();
  const contract = { ...declared, snapshot: { ...declared.snapshot, authority: "pull" } };
  await submit(collector.ingestUrl, [
    makeEvent({ state: "created", sequence: 1, capabilities: { heartbeat: "known" } }),
    makeEvent({ kind: "diagnostic", sequence: 2, details: { visibilityContract: contract } as never }),
  ]);
  const { visibility } = (await sourceOf(collector, "runner")) ?? {};
  expect(visibility?.mismatches).toMatchObject([
    {
      path: "snapshot.authority",
      text: "an authority to pull is declared, and the source has no authority here",
      count: 1,
    },
  ]);
});
