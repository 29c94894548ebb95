import { describe, expect, test } from "vitest";
import { payloadOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_19, GATEWAY_0_20_6, GATEWAY_0_21 } from "../../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { GatewayError } from "../../../kit/hermes/gateway-methods.ts";
import { observe } from "./observation.ts";

const SESSION = "s1";

describe("leaving others alone", () => {
  const READING = ["delegation.status", "session.active_list", "session.events.since", "gateway.ping"];

  test.each([
    ["an old build", GATEWAY_0_19],
    ["a build with replay", GATEWAY_0_20_6],
    ["a build that shares sessions", GATEWAY_0_21],
  ])("by default only questions are asked of %s", async (_name, build) => {
    const gateway = new GatewayDouble(build);
    gateway.openSession(SESSION);
    const { look } = await observe(gateway);
    await look(60);
    expect(gateway.requests.map(({ method }) => method).filter((method) => !READING.includes(method))).toEqual([]);
  });

  test.each([
    ["an old build", GATEWAY_0_19],
    ["a build with a single slot", GATEWAY_0_20_6],
  ])("%s is never attached to, however it is configured", async (_name, build) => {
    const gateway = new GatewayDouble(build);
    gateway.openSession(SESSION);
    const { look } = await observe(gateway, { options: { attach: true, cancel: true } });
    await look(5);
    expect(gateway.asked("session.activate")).toEqual([]);
  });

  test("a session that is shared is attached to once, and a frame that comes is only a reason to look", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_21);
    gateway.openSession(SESSION);
    const { intake, look, time, receiver } = await observe(gateway, { options: { attach: true } });
    await look(5);
    expect(gateway.asked("session.activate")).toEqual([{ session_id: SESSION, omit_messages: true }]);
    expect(receiver.status.attachedSessions).toBe(1);
    await time.advance(100);
    const frame = gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.push(frame);
    await time.advance(60);
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "starting", "running"]);
    await look(2);
    expect(intake.child("sa-0-a").conflicts).toBe(0);
  });

  test("a subscription that falls silent loses nothing", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_21);
    gateway.openSession(SESSION);
    const { intake, look } = await observe(gateway, { options: { attach: true } });
    gateway.isSilent = true;
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "running" });
  });

  test("what a build offers is what is said of it", async () => {
    const capabilitiesWith = async (gateway: GatewayDouble, options: object) =>
      Object.entries((await observe(gateway, { options })).receiver.status.capabilities ?? {})
        .filter(([, knowledge]) => knowledge === "known")
        .map(([name]) => name);
    expect(await capabilitiesWith(new GatewayDouble(GATEWAY_0_19), {})).toEqual(["snapshot"]);
    expect(await capabilitiesWith(new GatewayDouble(GATEWAY_0_19), { cancel: true })).toEqual(["snapshot", "cancel"]);
    expect(await capabilitiesWith(new GatewayDouble(GATEWAY_0_20_6), {})).toEqual([
      "history",
      "snapshot",
      "terminalCause",
    ]);
    expect(await capabilitiesWith(new GatewayDouble(GATEWAY_0_21), { cancel: true })).toEqual([
      "history",
      "snapshot",
      "terminalCause",
    ]);
  });
});

describe("events that come unasked", () => {
  test("of a gateway that cannot replay, they are passed on as they come, each a frame of its own", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { intake, time } = await observe(gateway);
    for (const [type, more] of [
      ["subagent.start", {}],
      ["subagent.tool", { tool_name: "web" }],
      ["subagent.tool", { tool_name: "web" }],
      ["subagent.complete", { status: "completed" }],
    ] as const) {
      gateway.push({ type, session_id: SESSION, payload: payloadOf("sa-0-a", more) });
    }
    await time.advance(1_000);
    expect(intake.states).toEqual({ "sa-0-a": "completed" });
    expect(intake.events.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "applied"));
  });

  test("those that come before the gateway has said what it does are not lost", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.answers.set("session.events.since", () => {
      gateway.push({ type: "subagent.start", session_id: SESSION, payload: payloadOf("sa-0-a") });
      throw new GatewayError(-32601);
    });
    const { intake } = await observe(gateway);
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "starting", "running"]);
  });

  test("large ones are bounded by their size as well", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { intake, look } = await observe(gateway);
    await look();
    for (let frame = 0; frame < 20; frame += 1) {
      const payload = payloadOf("sa-0-a", { text: "x".repeat(1024 * 1024) });
      gateway.push({ type: "subagent.tool", session_id: SESSION, payload });
    }
    await look();
    expect(intake.events).toHaveLength(15);
    expect(intake.problems).toMatchObject([{ code: "sequence_gap", text: expect.stringContaining("5 events") }]);
  });

  test("those about no child take nobody's place", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.answers.set("session.events.since", () => {
      for (let frame = 0; frame < 10_001; frame += 1) gateway.push({ type: "message.delta", session_id: SESSION });
      gateway.push({ type: "subagent.start", session_id: SESSION, payload: payloadOf("sa-0-a") });
      throw new GatewayError(-32601);
    });
    const { intake } = await observe(gateway);
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "starting", "running"]);
  });

  test("a flood is bounded, and what was lost of it is told and made up for by a snapshot", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { intake, look } = await observe(gateway);
    await look();
    const snapshots = intake.snapshots.length;
    for (let frame = 0; frame < 10_005; frame += 1) {
      gateway.push({ type: "subagent.tool", session_id: SESSION, payload: payloadOf("sa-0-a") });
    }
    await look();
    expect(intake.events).toHaveLength(10_000);
    expect(intake.problems).toMatchObject([{ code: "sequence_gap", text: expect.stringContaining("5 events") }]);
    expect(intake.snapshots.length).toBe(snapshots + 1);
  });
});
