import { describe, expect, test } from "vitest";
import { payloadOf, rowOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_19, GATEWAY_0_20_6 } from "../../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { GatewayError } from "../../../kit/hermes/gateway-methods.ts";
import { settled } from "./manual-time.ts";
import { observe } from "./observation.ts";

const SESSION = "s1";

function replayGateway(): GatewayDouble {
  const gateway = new GatewayDouble(GATEWAY_0_20_6);
  gateway.openSession(SESSION);
  return gateway;
}

describe("who runs", () => {
  test("children that no event ever showed are running, from a snapshot, and their past is not claimed", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a", { last_tool: "web", tool_count: 2 }), rowOf("sa-1-b")];
    const { intake } = await observe(gateway);
    expect(intake.states).toEqual({ "sa-0-a": "running", "sa-1-b": "running" });
    expect(intake.child("sa-0-a")).toMatchObject({
      history: "partial",
      activity: "web",
      facts: { model: "fake-model" },
    });
    expect(intake.events).toEqual([]);
  });

  test("a snapshot is passed on when a connection opens, even of nobody", async () => {
    const { intake } = await observe(new GatewayDouble(GATEWAY_0_19));
    expect(intake.snapshots.map(({ snapshot }) => snapshot)).toMatchObject([
      { complete: true, coverage: "all", children: [] },
    ]);
  });

  test("rows that repeat what is known are not passed on again; a new tool is an event, a new child a snapshot", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look } = await observe(gateway);
    await look(5);
    expect(gateway.asked("delegation.status")).toHaveLength(6);
    expect(intake.snapshots).toHaveLength(1);
    gateway.rows = [rowOf("sa-0-a", { tool_count: 1, last_tool: "terminal" })];
    await look(3);
    expect(intake.snapshots).toHaveLength(1);
    expect(intake.events.map(({ event, status }) => [event.kind, event.activity, status])).toEqual([
      ["activity", "terminal", "applied"],
    ]);
    expect(intake.child("sa-0-a")).toMatchObject({ facts: { tool: "terminal", usage: { toolCalls: 1 } } });
    gateway.rows = [rowOf("sa-0-a", { tool_count: 1, last_tool: "terminal" }), rowOf("sa-1-b")];
    await look(3);
    expect(intake.snapshots).toHaveLength(2);
  });

  test("tools that frames tell of are not told twice; those of a grandchild, whose frames are dropped, are", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-g", { parent_id: "sa-0-a", depth: 1 }));
    const rows = (toolCount: number): readonly unknown[] => [
      rowOf("sa-0-a", { tool_count: toolCount, last_tool: "web" }),
      rowOf("sa-0-g", { parent_id: "sa-0-a", depth: 1, tool_count: toolCount, last_tool: "terminal" }),
    ];
    gateway.rows = rows(0);
    const { intake, look } = await observe(gateway);
    gateway.rows = rows(1);
    await look(2);
    const told = intake.events.filter(({ event }) => event.kind === "activity");
    expect(told.map(({ event }) => [event.childId, event.activity])).toEqual([["sa-0-g", "terminal"]]);
  });

  test("a child that vanished from the rows without a word is missed twice: stale, and neither ended nor lost by that", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look } = await observe(gateway);
    await look();
    gateway.rows = [];
    await look();
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", misses: 1, stale: undefined });
    await look(10);
    expect(intake.child("sa-0-a")).toMatchObject({
      state: "running",
      misses: 2,
      stale: { reason: "snapshot_omission" },
    });
    expect(intake.child("sa-0-a").reconciliation).toBeDefined();
  });

  test("a child that comes back as it was is not half missed ever after", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look } = await observe(gateway);
    await look();
    for (let round = 0; round < 3; round += 1) {
      gateway.rows = [];
      await look();
      expect(intake.child("sa-0-a").misses).toBe(1);
      gateway.rows = [rowOf("sa-0-a")];
      await look();
      expect(intake.child("sa-0-a").misses).toBe(0);
    }
    gateway.rows = [];
    await look(2);
    expect(intake.child("sa-0-a").stale).toMatchObject({ reason: "snapshot_omission" });
  });

  test("presence makes up for absence", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look } = await observe(gateway);
    for (let round = 0; round < 3; round += 1) {
      gateway.rows = [];
      await look();
      gateway.rows = [rowOf("sa-0-a", { tool_count: round + 1 })];
      await look();
    }
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", misses: 0, stale: undefined });
  });

  const refuse = (): never => {
    throw new GatewayError(5000);
  };

  test.each([
    ["an error", refuse],
    ["no list", () => ({ paused: false })],
    ["a row without an id", () => ({ active: [{ goal: "somebody's" }] })],
    ["a row twice", () => ({ active: [rowOf("sa-1-b"), rowOf("sa-1-b")] })],
  ])("%s is no proof of absence: nobody is missed, and the next good answer is used", async (_name, answer) => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look, receiver } = await observe(gateway);
    gateway.answers.set("delegation.status", answer);
    await look(5);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", misses: 0 });
    expect(receiver.status.lastFailure?.text).toContain("delegation.status");
    expect(receiver.status.state).toBe("connected");
    gateway.answers.clear();
    gateway.rows = [rowOf("sa-1-b")];
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "running", "sa-1-b": "running" });
  });

  test("a word in a row that nobody has defined changes no state, makes nobody up, and misses nobody", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look } = await observe(gateway);
    gateway.rows = [rowOf("sa-0-a", { status: "banana", tool_count: 1 }), rowOf("sa-1-b", { status: "banana" })];
    await look(3);
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    expect(intake.child("sa-0-a").misses).toBe(0);
    expect(intake.problems.map(({ text }) => text)).toEqual(["unknown status banana", "unknown status banana"]);
  });

  test("an answer that comes too late for the authority is passed on all the same", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { intake, look, receiver } = await observe(gateway);
    const tooLate = new AbortController();
    gateway.hold();
    gateway.rows = [rowOf("sa-0-a")];
    const answer = receiver.snapshotSource.fetch(tooLate.signal);
    await settled();
    tooLate.abort();
    gateway.release();
    await expect(answer).resolves.toMatchObject({ children: [{ childId: "sa-0-a" }] });
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "running" });
  });

  test("a question whose turn comes too late is not asked any more, and the next look answers it", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look, receiver } = await observe(gateway);
    const before = intake.snapshots.length;
    const tooLate = new AbortController();
    gateway.hold();
    await look();
    const asked = gateway.asked("delegation.status").length;
    const answer = receiver.snapshotSource.fetch(tooLate.signal);
    await settled();
    tooLate.abort();
    gateway.release();
    await expect(answer).rejects.toThrow();
    expect(gateway.asked("delegation.status")).toHaveLength(asked);
    await look();
    expect(intake.snapshots).toHaveLength(before + 1);
  });

  test("children that were asked for and never started stay created: rows say nothing about them", async () => {
    const gateway = replayGateway();
    for (const id of ["sa-0-a", "sa-1-b", "sa-2-c"]) gateway.emit(SESSION, "subagent.spawn_requested", payloadOf(id));
    gateway.rows = [rowOf("sa-3-d")];
    const { intake, look } = await observe(gateway);
    await look(3);
    gateway.rows = [rowOf("sa-3-d", { tool_count: 1 })];
    await look(3);
    expect(intake.states).toEqual({
      "sa-0-a": "created",
      "sa-1-b": "created",
      "sa-2-c": "created",
      "sa-3-d": "running",
    });
    expect(intake.child("sa-0-a")).toMatchObject({ misses: 0, stale: undefined });
    expect(intake.snapshots.at(-1)?.snapshot).toMatchObject({ complete: true, coverage: ["sa-3-d"] });
  });

  test("with nobody but such children, a snapshot proves nothing and says so", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.spawn_requested", payloadOf("sa-0-a"));
    const { receiver } = await observe(gateway);
    await expect(receiver.snapshotSource.fetch(new AbortController().signal)).resolves.toMatchObject({
      complete: false,
      coverage: "all",
      children: [],
    });
  });

  test("a row just before its child's end is reported again after it: the child stays ended", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look, receiver } = await observe(gateway);
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    await look();
    const snapshot = await receiver.snapshotSource.fetch(new AbortController().signal);
    await intake.acceptSnapshot(snapshot);
    expect(intake.snapshots.at(-1)?.diagnostics).toEqual(["terminal_immutable"]);
    expect(intake.states).toEqual({ "sa-0-a": "completed" });
  });
});
