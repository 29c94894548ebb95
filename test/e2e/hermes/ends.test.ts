import { describe, expect, test } from "vitest";
import { GATEWAY_0_19, GATEWAY_0_20_6 } from "../../kit/hermes/gateway-build.ts";
import { ObservedGateway, SESSION } from "../../kit/hermes/observed-gateway.ts";

const LOST = { state: "lost", stateEvidence: "failed_reconciliation" };

describe("how a child of Hermes ends", () => {
  test.each([
    ["completed", "completed", undefined],
    ["failed", "failed", undefined],
    ["timeout", "failed", "timeout"],
    ["error", "failed", "error"],
    ["interrupted", "cancelled", "interrupted"],
    ["stalled", "failed", "stalled"],
  ])("L23: the word %s ends it as %s, and never leaves it running", async (word, state, cause) => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    observed.gateway.child(SESSION, "sa-0-a").isAskedFor().starts().usesTool("web").completes(word);
    const child = await observed.until("sa-0-a", { state, stateEvidence: "event", stale: null });
    expect(child.facts.cause).toBe(cause);
    expect(await observed.reported("sa-0-a")).toEqual(["created", "starting", "running", state]);
  });

  test("a word that nobody has defined, on an end: failed, with the word kept and told", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    observed.gateway.child(SESSION, "sa-0-a").starts().completes("weird");
    observed.gateway.child(SESSION, "sa-1-b").starts().completes("completed");
    await observed.until("sa-1-b", { state: "completed" });
    expect(await observed.child("sa-0-a")).toMatchObject({ state: "failed", facts: { cause: "weird" } });
    expect(await observed.diagnostics()).toMatchObject([{ code: "unsupported_status", text: "unknown status weird" }]);
  });

  test("L23: a word that nobody has defined, in a row: no state changes, and its siblings are read", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_19);
    const child = observed.gateway.child(SESSION, "sa-0-a").appears();
    await observed.until("sa-0-a", { state: "running" });
    child.vanishes();
    observed.gateway.child(SESSION, "sa-0-a", { status: "banana", tool_count: 1 }).appears();
    observed.gateway.child(SESSION, "sa-1-b").appears();
    await observed.until("sa-1-b", { state: "running" });
    await observed.looks(3);
    expect(await observed.child("sa-0-a")).toMatchObject({ state: "running", misses: 0, stale: null });
    expect((await observed.diagnostics()).map(({ code }) => code)).toContain("unsupported_status");
  });

  test("a child in the background outlives the turn of its parent, and the user's next message", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const { gateway } = observed;
    const child = gateway.child(SESSION, "sa-0-a").isAskedFor().starts();
    gateway.emit(SESSION, "message.complete", { text: "dispatched" });
    await observed.until("sa-0-a", { state: "running" });
    gateway.emit(SESSION, "message.start");
    child.usesTool("terminal");
    await observed.until("sa-0-a", { state: "running", activity: "terminal" });
    child.completes("completed");
    await observed.until("sa-0-a", { state: "completed", lateEvidence: null });
  });

  test("the same end told twice, by two frames and across a restart of the collector: one end, and the claim is counted", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const child = observed.gateway.child(SESSION, "sa-0-a").starts().completes("completed");
    await observed.until("sa-0-a", { state: "completed", lateEvidence: null });
    child.saysComplete("completed");
    await observed.until("sa-0-a", { state: "completed", lateEvidence: { count: 1 } });
    await observed.stopCollector();
    child.saysComplete("failed");
    await observed.startCollector();
    const after = await observed.until("sa-0-a", { lateEvidence: { count: 2, lastState: "failed" } });
    expect(after).toMatchObject({ state: "completed", conflicts: 0 });
    expect(await observed.get("/api/v1/summary")).toMatchObject({ started: 1, live: 0, byState: { completed: 1 } });
  });

  test("frames of a worker that was given up and goes on: it stays timed out, and they are counted", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const child = observed.gateway.child(SESSION, "sa-0-a").starts().completes("timeout");
    await observed.until("sa-0-a", { state: "failed" });
    child.usesTool("web").usesTool("web").thinks("still at it");
    await observed.until("sa-0-a", { state: "failed", facts: { cause: "timeout" }, lateEvidence: { count: 3 } });
  });

  test("its row outlives its end for a while: it stays ended", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    child.saysComplete("completed");
    await observed.until("sa-0-a", { state: "completed" });
    await observed.looks(3);
    child.vanishes();
    await observed.looks(3);
    expect(await observed.child("sa-0-a")).toMatchObject({ state: "completed", misses: 0, corrections: 0 });
  });

  test("a grandchild that only starts and ends keeps its place, and outlives its parent", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const parent = observed.gateway.child(SESSION, "sa-0-p").isAskedFor().starts();
    const grandchild = observed.gateway.child(SESSION, "sa-0-g", { parent_id: "sa-0-p", depth: 1 }).starts();
    await observed.until("sa-0-g", { state: "running" });
    parent.completes("completed");
    await observed.until("sa-0-p", { state: "completed" });
    await observed.looks(3);
    const lineage = { rootChildId: "sa-0-p", parentChildId: "sa-0-p", attempt: 0, external: false };
    expect(await observed.child("sa-0-g")).toMatchObject({ state: "running", stale: null, lineage });
    grandchild.completes("completed");
    await observed.until("sa-0-g", { state: "completed" });
  });

  test("killed by a timeout without a word: stale, then lost with its cause, and never running for ever", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    child.vanishes();
    await observed.until("sa-0-a", { stale: { reason: "snapshot_omission" }, state: "running" });
    await observed.until("sa-0-a", LOST);
    expect(await observed.audit("sa-0-a")).toMatchObject([{ reason: "failed_reconciliation", to: "lost" }]);
  });

  test("L26: its result arrives while it is stale: completed, and the open question is gone", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
      lifecycle: "stale_after: 1h, reconcile_deadline: 1h",
    });
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    child.vanishes();
    await observed.until("sa-0-a", { stale: { reason: "snapshot_omission" } });
    child.saysComplete("completed");
    await observed.until("sa-0-a", { state: "completed", stale: null, reconciliation: null });
  });

  test("L29: its result arrives after it was given up: it stays lost, and the claim is shown beside it", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    child.vanishes();
    await observed.until("sa-0-a", LOST);
    child.saysComplete("completed");
    await observed.until("sa-0-a", { ...LOST, lateEvidence: { count: 1, lastState: "completed" } });
    expect(await observed.get("/api/v1/summary")).toMatchObject({ started: 1, byState: { lost: 1, completed: 0 } });
  });
});
