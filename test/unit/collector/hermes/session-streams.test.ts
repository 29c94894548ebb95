import { describe, expect, test } from "vitest";
import { payloadOf, rowOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_20_6 } from "../../../kit/hermes/gateway-build.ts";
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

describe("streams that can be read", () => {
  test("the end of a child is read before its absence from the rows could count", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, look } = await observe(gateway);
    await look();
    // Ends between the two questions of one look: the rows are of before, the frames of after.
    gateway.answers.set("delegation.status", () => {
      gateway.answers.clear();
      gateway.rows = [];
      gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
      return { active: [] };
    });
    await look(3);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "completed", misses: 0, terminalEvidence: "event" });
  });

  test("a child that starts between the two questions of a look is not missing from the first answer", async () => {
    const gateway = replayGateway();
    const { intake, look } = await observe(gateway);
    const before = intake.snapshots.length;
    gateway.answers.set("delegation.status", () => {
      gateway.answers.clear();
      gateway.rows = [rowOf("sa-0-a")];
      gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
      return { active: [] };
    });
    await look(3);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", misses: 0 });
    expect(intake.snapshots).toHaveLength(before);
  });

  test("nor is one that was asked for before, in an answer to the authority", async () => {
    const gateway = replayGateway();
    const child = gateway.child(SESSION, "sa-0-a").isAskedFor();
    const { intake, look, receiver } = await observe(gateway);
    await look();
    gateway.answers.set("delegation.status", () => {
      gateway.answers.clear();
      child.starts();
      return { active: [] };
    });
    const snapshot = await receiver.snapshotSource.fetch(new AbortController().signal);
    await intake.acceptSnapshot(snapshot);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", misses: 0 });
  });

  test("what was kept while nobody looked is old evidence, and what comes after it is not", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    const { intake, look, time } = await observe(gateway);
    gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-a", { tool_name: "live" }));
    await look();
    gateway.drop();
    gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-a", { tool_name: "missed" }));
    await time.advance(1_000);
    gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-a", { tool_name: "live again" }));
    await look(2);
    const told = intake.events.map(({ event, backfill }) => [event.activity ?? event.state, backfill]);
    expect(told).toEqual([
      ["created", true],
      ["starting", true],
      ["running", true],
      ["live", false],
      ["missed", true],
      ["live again", false],
    ]);
  });

  test("more sessions than there are streams kept of are not passed over in silence", async () => {
    const gateway = replayGateway();
    for (let session = 0; session < 300; session += 1) gateway.openSession(`more-${session}`);
    const { intake, look } = await observe(gateway);
    await look();
    expect(intake.problems[0]).toMatchObject({
      code: "oversize",
      text: expect.stringContaining("the streams of 45 of 301 sessions are not read"),
    });
  });

  test("each frame is read once, in its order, whatever the pace", async () => {
    const gateway = replayGateway();
    const { intake, look } = await observe(gateway);
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    await look(2);
    gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-a", { tool_name: "one" }));
    gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-a", { tool_name: "two" }));
    await look(2);
    expect(intake.events.map(({ event }) => event.activity ?? event.state)).toEqual([
      "created",
      "starting",
      "running",
      "one",
      "two",
    ]);
    expect(gateway.asked("session.events.since").at(-1)).toEqual({ session_id: SESSION, last_seen: 3 });
  });

  test("a frame that an answer holds twice, or out of order, is one frame in its place", async () => {
    const gateway = replayGateway();
    const start = gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    const end = gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    gateway.answers.set("session.events.since", () => ({
      events: [end, start, end, "no event"],
      latest_seq: 2,
      truncated: false,
      epoch: gateway.epoch,
    }));
    const { intake, look } = await observe(gateway);
    await look(3);
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "starting", "running", "completed"]);
    expect(intake.child("sa-0-a").conflicts).toBe(0);
  });

  test("a child that thinks aloud is at work, once a look; its tools stay, one by one", async () => {
    const gateway = replayGateway();
    const { intake, look } = await observe(gateway);
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    for (const type of ["thinking", "thinking", "tool", "tool", "thinking", "progress", "thinking", "thinking"]) {
      gateway.emit(SESSION, `subagent.${type}`, payloadOf("sa-0-a", { tool_name: "web" }));
      gateway.emit(SESSION, "subagent.thinking", payloadOf("sa-1-b"));
    }
    await look(2);
    const told = (childId: string) =>
      intake.events.filter(({ event }) => event.childId === childId).flatMap(({ event }) => event.activity ?? []);
    expect(told("sa-0-a")).toEqual(["thinking", "web", "web", "thinking", "working", "thinking"]);
    expect(told("sa-1-b")).toEqual(["thinking"]);
  });

  test("what happened while the connection was down is read after it, once", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, time, look, receiver } = await observe(gateway);
    gateway.drop();
    await settled();
    gateway.rows = [];
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    await time.advance(2_000);
    await look(3);
    expect(receiver.status.connections).toBe(2);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "completed", conflicts: 0 });
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "starting", "running", "completed"]);
  });

  test("a stream whose beginning is gone is told, and the snapshot makes up for it", async () => {
    const gateway = replayGateway();
    const { intake, look } = await observe(gateway);
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.evictAll(SESSION);
    gateway.rows = [rowOf("sa-0-a")];
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    expect(intake.problems).toMatchObject([{ code: "sequence_gap" }]);
    await look(3);
    expect(intake.problems).toHaveLength(1);
  });

  test("a gap is followed by a snapshot even if the rows tell nothing new", async () => {
    const gateway = replayGateway();
    const { intake, look } = await observe(gateway);
    const before = intake.snapshots.length;
    gateway.emit(SESSION, "message.start");
    gateway.evictAll(SESSION);
    await look();
    expect(intake.snapshots).toHaveLength(before + 1);
  });

  test("a gap that was found in a look that came to nothing is followed by a snapshot all the same", async () => {
    const gateway = replayGateway();
    gateway.openSession("s2");
    const { intake, look } = await observe(gateway);
    const before = intake.snapshots.length;
    gateway.emit(SESSION, "message.start");
    gateway.evictAll(SESSION);
    gateway.answers.set("session.events.since", () => {
      gateway.answers.set("session.events.since", "hang");
      return { events: [], latest_seq: 1, truncated: true, epoch: gateway.epoch };
    });
    await look(2);
    expect(intake.snapshots).toHaveLength(before);
    gateway.answers.clear();
    await look(12);
    expect(intake.snapshots).toHaveLength(before + 1);
  });

  test("while nobody says which sessions are live, those that were are read on", async () => {
    const gateway = replayGateway();
    const child = gateway.child(SESSION, "sa-0-a").starts();
    const { intake, look } = await observe(gateway);
    gateway.answers.set("session.active_list", () => {
      throw new GatewayError(5000);
    });
    await look(3);
    child.completes("completed");
    await look(3);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "completed", misses: 0 });
  });

  test("the stream of each of a hundred live sessions is read", async () => {
    const gateway = replayGateway();
    for (let session = 2; session <= 100; session += 1) gateway.openSession(`s${session}`);
    const { intake, look } = await observe(gateway);
    gateway.child("s100", "sa-0-a").starts().completes("completed");
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "completed" });
  });

  test("a session that the gateway forgot and numbers anew in the same epoch is read from its new beginning", async () => {
    const gateway = replayGateway();
    for (let frame = 0; frame < 5; frame += 1) gateway.emit(SESSION, "message.start");
    const { intake, look } = await observe(gateway);
    await look();
    gateway.openSession(SESSION);
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    await look(2);
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "starting", "running", "completed"]);
    expect(new Set(intake.events.map(({ event }) => event.eventId)).size).toBe(4);
  });

  test("a session that closed is read once more", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    const { intake, look } = await observe(gateway);
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    gateway.closeSession(SESSION);
    await look(3);
    expect(intake.states).toEqual({ "sa-0-a": "completed" });
  });

  test.each([4001, 4007])("a session that is not for us (%i) costs no other session anything", async (code) => {
    const gateway = replayGateway();
    gateway.openSession("s2");
    gateway.emit("s2", "subagent.start", payloadOf("sa-0-a"));
    const frames = [{ type: "subagent.start", session_id: "s2", seq: 1, payload: payloadOf("sa-0-a") }];
    gateway.answers.set("session.events.since", ({ session_id: sessionId }) => {
      if (sessionId === SESSION) throw new GatewayError(code);
      return { events: frames, latest_seq: 1, truncated: false, epoch: gateway.epoch };
    });
    const { intake, look, receiver } = await observe(gateway);
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    expect(receiver.status.state).toBe("connected");
  });

  test("a method that is gone after all leaves the rows", async () => {
    const gateway = replayGateway();
    const { intake, look } = await observe(gateway);
    gateway.answers.set("session.events.since", () => {
      throw new GatewayError(-32601);
    });
    gateway.rows = [rowOf("sa-0-a")];
    await look(3);
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    expect(gateway.asked("session.events.since").length).toBeLessThan(5);
  });

  test("a gateway that restarts begins a new epoch: what was read counts no longer, and old children are missed, never completed", async () => {
    const gateway = replayGateway();
    for (let frame = 0; frame < 9; frame += 1) gateway.emit(SESSION, "message.start");
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, time, look, receiver } = await observe(gateway);
    gateway.restart("epoch-2");
    gateway.openSession(SESSION);
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-b"));
    gateway.rows = [rowOf("sa-0-b")];
    await time.advance(2_000);
    await look(3);
    expect(intake.child("sa-0-b")).toMatchObject({ state: "running", epoch: "epoch-2", history: "complete" });
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", epoch: "epoch-1" });
    // Its authority is asked again, as it is whenever a connection works.
    await intake.acceptSnapshot(await receiver.snapshotSource.fetch(new AbortController().signal));
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", stale: { reason: "snapshot_omission" } });
  });

  test("another process that answers on the same connection ends it: nothing is mixed", async () => {
    const gateway = replayGateway();
    const { look, receiver, time } = await observe(gateway);
    gateway.epoch = "epoch-2";
    await look();
    await time.advance(1_000);
    expect(receiver.status).toMatchObject({ epoch: "epoch-2", connections: 2, state: "connected" });
  });

  test("a stream too large for one frame is passed over, told, and read on from its end", async () => {
    const gateway = replayGateway();
    const { intake, look, time, receiver } = await observe(gateway);
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.rows = [rowOf("sa-0-a")];
    gateway.answers.set("session.events.since", ({ session_id: sessionId, last_seen: lastSeen }) => {
      if (sessionId !== SESSION || lastSeen !== 0)
        return { events: [], latest_seq: 1, truncated: true, epoch: gateway.epoch };
      gateway.drop({ kind: "oversize", text: "a frame larger than allowed" });
      return {};
    });
    await look();
    await time.advance(2_000);
    expect(receiver.status.connections).toBe(2);
    expect(intake.problems.map(({ code }) => code)).toContain("oversize");
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    gateway.answers.clear();
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    await look(2);
    expect(intake.states).toEqual({ "sa-0-a": "completed" });
  });
});
