import type { ChildrenPage } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { GATEWAY_0_19, GATEWAY_0_20_6, GATEWAY_0_21, type GatewayBuild } from "../../kit/hermes/gateway-build.ts";
import { ObservedGateway, SESSION } from "../../kit/hermes/observed-gateway.ts";

describe("what is shown of a gateway's children", () => {
  test("children that no event ever told of: running, known from a snapshot, and every view counts the same", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_19);
    observed.gateway.child(SESSION, "sa-0-a").appears();
    observed.gateway.child(SESSION, "sa-1-b", { model: "other-model" }).appears();
    await observed.until("sa-1-b", { state: "running", facts: { model: "other-model" } });
    expect((await observed.child("sa-1-b")).facts).toMatchObject({
      name: "the goal of sa-1-b",
      routingProfile: "UNPROFILED",
    });
    const { children } = await observed.get<ChildrenPage>("/api/v1/children");
    expect(children.map(({ stateEvidence, history, lineage }) => [stateEvidence, history, lineage.external])).toEqual([
      ["authoritative_snapshot", "partial", false],
      ["authoritative_snapshot", "partial", false],
    ]);
    expect(await observed.get("/api/v1/summary")).toMatchObject({ started: 2, live: 2, byState: { running: 2 } });
    expect(await observed.source()).toMatchObject({ children: 2, adapter: { runningChildren: 2 } });
  });

  test("events and snapshots are told apart, child by child", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    observed.gateway.child(SESSION, "sa-0-a").starts();
    observed.gateway.child(SESSION, "sa-1-b").appears();
    await observed.until("sa-0-a", { stateEvidence: "event", history: "complete" });
    await observed.until("sa-1-b", { stateEvidence: "authoritative_snapshot", history: "partial" });
  });

  test("three that were asked for and never started: created, never running, stale in the end, and not lost for it", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
      lifecycle: "stale_after: 600ms, reconcile_deadline: 1s",
    });
    const ids = ["sa-0-a", "sa-1-b", "sa-2-c"];
    for (const id of ids) observed.gateway.child(SESSION, id).isAskedFor();
    for (const id of ids) await observed.until(id, { state: "created", stale: { reason: "deadline" } });
    // Its question is answered by nobody: the gateway lists a child from its start.
    await observed.until("sa-2-c", { state: "created", stale: { reason: "deadline" }, reconciliation: null });
    expect(await observed.states()).toEqual({ "sa-0-a": "created", "sa-1-b": "created", "sa-2-c": "created" });
    for (const id of ids) expect(await observed.reported(id)).toEqual(["created"]);
  });

  test("a child that is silent and listed is not stale: whoever is asked and answers is not silent", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
      lifecycle: "stale_after: 900ms, reconcile_deadline: 900ms",
    });
    observed.gateway.child(SESSION, "sa-0-a").starts();
    const { lastEvidenceAt } = await observed.until("sa-0-a", { state: "running" });
    await observed.eventually(async () => {
      const child = await observed.child("sa-0-a");
      expect(child.stale).toBeNull();
      expect(Date.parse(child.lastEvidenceAt) - Date.parse(lastEvidenceAt)).toBeGreaterThan(2_000);
    });
  });

  test("goals are no names where that is not wanted, and thinking is shown nowhere", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, { receiver: "name_goals: false" });
    const child = observed.gateway.child(SESSION, "sa-0-a").starts().thinks("a secret thought");
    await observed.until("sa-0-a", { activity: "thinking" });
    child.completes("completed", { summary: "a secret summary", output_tail: [{ preview: "a secret output" }] });
    await observed.until("sa-0-a", { state: "completed" });
    const shown = JSON.stringify([
      await observed.child("sa-0-a"),
      await observed.get("/api/v1/children/hermes/sa-0-a/events"),
      observed.log,
    ]);
    expect(shown).not.toMatch(/the goal of|a secret/);
  });

  test.each<[string, GatewayBuild, object, readonly string[]]>([
    ["0.19", GATEWAY_0_19, { replay: false, sharedSessions: false, interrupt: "any_client" }, ["snapshot", "cancel"]],
    [
      "0.20.6",
      GATEWAY_0_20_6,
      { replay: true, sharedSessions: false, interrupt: "any_client" },
      ["history", "snapshot", "cancel", "terminalCause"],
    ],
    [
      "0.21",
      GATEWAY_0_21,
      { replay: true, sharedSessions: true, interrupt: "attached_client" },
      ["history", "snapshot", "terminalCause"],
    ],
  ])(
    "%s: its source says how far it may be relied on, what the build offers, and what can be known",
    async (_name, build, features, known) => {
      const observed = await ObservedGateway.start(build, { receiver: "cancel: true" });
      const { authority, adapter } = await observed.eventually(async () => {
        const source = await observed.source();
        expect(source.authority?.answers).toBeGreaterThan(0);
        return source;
      });
      expect(authority).toMatchObject({ id: "hermes/main", kind: "hermes", supportLevel: "experimental" });
      expect(adapter).toMatchObject({
        address: observed.server.url,
        connection: { state: "connected", count: 1, since: expect.any(String), lastEnd: null },
        features,
        attachedSessions: 0,
      });
      const capabilities = Object.entries(adapter?.capabilities ?? {});
      expect(
        capabilities
          .filter(([, knowledge]) => knowledge === "known")
          .map(([name]) => name)
          .sort(),
      ).toEqual([...known].sort());
    },
  );
});
