import { describe, expect, test, vi } from "vitest";
import { payloadOf, rowOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_19, GATEWAY_0_20_6 } from "../../../kit/hermes/gateway-build.ts";
import { DOWN, GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { observe } from "./observation.ts";

const SILENCE_MS = 45_000;

describe("coming back", () => {
  test("a gateway that is not there is tried again after waits that grow up to half a minute", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.downAs = DOWN;
    const { time, receiver } = await observe(gateway);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 9; attempt += 1) {
      const waitMs = time.nextInMs ?? Number.NaN;
      waits.push(waitMs);
      await time.advance(waitMs);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(receiver.status).toMatchObject({
      state: "disconnected",
      lastEnd: { kind: "unreachable", text: "ECONNREFUSED" },
    });
    gateway.downAs = undefined;
    await time.advance(30_000);
    expect(receiver.status).toMatchObject({ state: "connected", lastEnd: { kind: "unreachable" } });
  });

  test("a gateway that refuses us is asked rarely", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.downAs = { kind: "refused", text: "closed with 4401" };
    const { time, receiver } = await observe(gateway);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt += 1) {
      const waitMs = time.nextInMs ?? Number.NaN;
      waits.push(waitMs / 1_000);
      await time.advance(waitMs);
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 600, 600]);
    expect(receiver.status.lastEnd).toMatchObject({ kind: "refused", text: "closed with 4401" });
  });

  test("after a connection that worked, the waits begin anew", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.downAs = DOWN;
    const { time } = await observe(gateway);
    await time.advance(20_000);
    gateway.downAs = undefined;
    await time.advance(60_000);
    gateway.drop();
    await time.advance(0);
    expect(time.nextInMs).toBe(500);
  });

  test("whoever asks the authority hears of every connection that works", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    let connected = 0;
    const { time } = await observe(gateway, {
      parts: {
        onConnected: () => {
          connected += 1;
        },
      },
    });
    gateway.drop();
    await time.advance(2_000);
    expect(connected).toBe(2);
  });

  test("each connection to a gateway that names no run of its own is an epoch; one that does is the same run", async () => {
    const old = new GatewayDouble(GATEWAY_0_19);
    const first = await observe(old);
    const epoch = first.receiver.status.epoch;
    old.drop();
    await first.time.advance(2_000);
    expect(first.receiver.status.epoch).not.toBe(epoch);

    const newer = new GatewayDouble(GATEWAY_0_20_6);
    const second = await observe(newer);
    newer.drop();
    await second.time.advance(2_000);
    expect(second.receiver.status).toMatchObject({ epoch: "epoch-1", connections: 2 });
  });

  test("a running child stands when its old gateway is reached again", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { intake, time } = await observe(gateway);
    gateway.drop();
    await time.advance(3_000);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", misses: 0, stale: undefined });
    expect(intake.snapshots.length).toBeGreaterThanOrEqual(2);
  });
});

describe("signs of life", () => {
  test("a half-open connection is given up after the silence allowed, and another is made", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_20_6);
    const { time, receiver } = await observe(gateway);
    for (const method of ["delegation.status", "gateway.ping"]) gateway.answers.set(method, "hang");
    await time.advance(SILENCE_MS - 5_000);
    expect(receiver.status.state).toBe("connected");
    expect(gateway.connections).toBe(1);
    gateway.answers.clear();
    await time.advance(SILENCE_MS);
    expect(gateway.connections).toBe(2);
    expect(receiver.status.state).toBe("connected");
  });

  test("an old build that knows no ping is alive all the same", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { time } = await observe(gateway, { options: { pollIntervalMs: 200_000 } });
    await time.advance(180_000);
    expect(gateway.asked("gateway.ping").length).toBeGreaterThanOrEqual(5);
    expect(gateway.connections).toBe(1);
  });

  test("answers are life enough: a gateway that is looked at is not asked for more", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_20_6);
    const { time } = await observe(gateway);
    await time.advance(120_000);
    expect(gateway.asked("gateway.ping")).toEqual([]);
  });

  test("a gateway that never becomes ready is given up", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.isMute = true;
    const { time, receiver } = await observe(gateway);
    await time.advance(29_000);
    expect(receiver.status.state).toBe("connecting");
    await time.advance(1_000);
    expect(receiver.status).toMatchObject({ state: "disconnected", lastEnd: { kind: "unresponsive" } });
  });
});

describe("what the gateway should not send", () => {
  test("costs nothing but itself, and is counted and bounded", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_20_6);
    gateway.openSession("s1");
    const { intake, look, receiver } = await observe(gateway);
    for (let frame = 0; frame < 100; frame += 1)
      gateway.sendText(`garbage with API_KEY=hunter22222 ${"x".repeat(5_000)}`);
    for (const text of ["[]", "null", '{"id":"7"}', '{"method":"event"}', '{"id":99999,"result":{}}'])
      gateway.sendText(text);
    gateway.sendText('{"jsonrpc":"2.0","id":"srq-7","method":"approval","params":{}}');
    gateway.emit("s1", "subagent.start", payloadOf("sa-0-a"));
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    expect(receiver.status.problems).toEqual({ malformed: 104 });
    expect(intake.problems).toHaveLength(32);
    // A frame that nobody can read may hold what a child was told, thinks or answers.
    for (const { text } of intake.problems) expect(text).toMatch(/^\d+ characters are no reply, event or request$/);
  });
});

describe("the authority", () => {
  test("answers with what a question of its own brought, and passes nothing on itself", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { intake, receiver } = await observe(gateway);
    gateway.rows = [rowOf("sa-0-a")];
    const snapshot = await receiver.snapshotSource.fetch(new AbortController().signal);
    expect(snapshot).toMatchObject({
      source: "hermes",
      complete: true,
      coverage: "all",
      children: [{ childId: "sa-0-a" }],
    });
    expect(intake.states).toEqual({});
    expect(receiver.snapshotSource.source).toBe("hermes");
  });

  test("names every answer anew", async () => {
    const { receiver } = await observe(new GatewayDouble(GATEWAY_0_19));
    const { signal } = new AbortController();
    const answers = await Promise.all([receiver.snapshotSource.fetch(signal), receiver.snapshotSource.fetch(signal)]);
    expect(new Set(answers.map((answer) => (answer as { snapshotId: string }).snapshotId)).size).toBe(2);
  });

  test("passes on what happened before it answers", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_20_6);
    gateway.openSession("s1");
    const { intake, receiver } = await observe(gateway);
    gateway.emit("s1", "subagent.start", payloadOf("sa-0-a"));
    gateway.emit("s1", "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    await receiver.snapshotSource.fetch(new AbortController().signal);
    expect(intake.states).toEqual({ "sa-0-a": "completed" });
  });

  test("is unreachable without a connection, and says why", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.downAs = DOWN;
    const { receiver } = await observe(gateway);
    await expect(receiver.snapshotSource.fetch(new AbortController().signal)).rejects.toThrow(
      "not connected: ECONNREFUSED",
    );
  });

  test("gives no answer when the gateway gives none", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { receiver, time } = await observe(gateway);
    gateway.answers.set("delegation.status", "hang");
    const answer = expect(receiver.snapshotSource.fetch(new AbortController().signal)).rejects.toThrow("no answer");
    await time.advance(30_000);
    await answer;
  });
});

describe("the end", () => {
  test("a connection that lasts gathers nothing: each wait lets go of what it listened to", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_20_6);
    const { look, time } = await observe(gateway);
    const added = vi.spyOn(AbortSignal.prototype, "addEventListener");
    const removed = vi.spyOn(AbortSignal.prototype, "removeEventListener");
    await look(100);
    expect(added.mock.calls.length).toBeGreaterThan(100);
    expect(removed.mock.calls.length).toBeGreaterThanOrEqual(added.mock.calls.length - 1);
    expect(time.waiting).toBeLessThan(5);
  });

  test("after shutdown nothing is asked, passed on, or planned", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_20_6);
    const { receiver, time, intake } = await observe(gateway);
    await receiver.shutdown();
    await receiver.shutdown();
    const asked = gateway.requests.length;
    const snapshots = intake.snapshots.length;
    await time.advance(300_000);
    expect(gateway.requests).toHaveLength(asked);
    expect(intake.snapshots).toHaveLength(snapshots);
    expect(time.waiting).toBe(0);
    expect(receiver.status.state).toBe("stopped");
  });

  test("a shutdown while a question is open, a door refuses, or a gateway is awaited, does not wait for them", async () => {
    const hanging = new GatewayDouble(GATEWAY_0_20_6);
    const first = await observe(hanging);
    hanging.answers.set("delegation.status", "hang");
    await first.time.advance(1_000);
    await first.receiver.shutdown();

    const refused = new GatewayDouble(GATEWAY_0_20_6);
    refused.openSession("s1");
    const second = await observe(refused);
    second.intake.refusals.push({ kind: "overloaded", retryAfterSeconds: 3_600 });
    refused.emit("s1", "subagent.start", payloadOf("sa-0-a"));
    await second.time.advance(1_000);
    await second.receiver.shutdown();

    const absent = new GatewayDouble(GATEWAY_0_19);
    absent.downAs = DOWN;
    const third = await observe(absent);
    await third.receiver.shutdown();
    expect([first, second, third].map(({ receiver }) => receiver.status.state)).toEqual([
      "stopped",
      "stopped",
      "stopped",
    ]);
  });
});
