import { describe, expect, test } from "vitest";
import { payloadOf, rowOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_19, GATEWAY_0_20_6, GATEWAY_0_21 } from "../../../kit/hermes/gateway-build.ts";
import { DOWN, GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { GatewayError } from "../../../kit/hermes/gateway-methods.ts";
import { observe } from "./observation.ts";

describe("asking a child to stop", () => {
  test("is not done unless it is configured", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { receiver } = await observe(gateway);
    expect(await receiver.cancel("sa-0-a")).toMatchObject({ kind: "not_allowed" });
    expect(gateway.asked("subagent.interrupt")).toEqual([]);
  });

  test("tells the gateway, and changes no state: that is for evidence", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_20_6);
    gateway.openSession("s1");
    gateway.emit("s1", "subagent.start", payloadOf("sa-0-a"));
    gateway.rows = [rowOf("sa-0-a")];
    const { receiver, intake, look } = await observe(gateway, { options: { cancel: true } });
    expect(await receiver.cancel("sa-0-a")).toMatchObject({ kind: "requested" });
    expect(gateway.asked("subagent.interrupt").at(-1)).toEqual({ subagent_id: "sa-0-a" });
    await look(3);
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    gateway.emit("s1", "subagent.complete", payloadOf("sa-0-a", { status: "interrupted" }));
    await look();
    expect(intake.child("sa-0-a")).toMatchObject({ state: "cancelled", facts: { cause: "interrupted" } });
  });

  test("says so when the child is gone already", async () => {
    const { receiver } = await observe(new GatewayDouble(GATEWAY_0_19), { options: { cancel: true } });
    expect(await receiver.cancel("sa-0-a")).toMatchObject({ kind: "not_found" });
  });

  test("is not allowed to a client that is not attached, where the build asks for that", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_21);
    gateway.openSession("s1");
    gateway.emit("s1", "subagent.start", payloadOf("sa-0-a"));
    const { receiver } = await observe(gateway, { options: { cancel: true } });
    expect(await receiver.cancel("sa-0-a")).toMatchObject({ kind: "not_allowed" });
    expect(gateway.asked("subagent.interrupt")).toEqual([]);
  });

  test("names the session where we are attached to it", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_21);
    gateway.openSession("s1");
    gateway.emit("s1", "subagent.start", payloadOf("sa-0-a"));
    gateway.answers.set("subagent.interrupt", () => ({ found: true, subagent_id: "sa-0-a" }));
    const { receiver, look } = await observe(gateway, { options: { cancel: true, attach: true } });
    await look();
    expect(receiver.status.capabilities?.cancel).toBe("known");
    expect(await receiver.cancel("sa-0-a")).toMatchObject({ kind: "requested" });
    expect(gateway.asked("subagent.interrupt")).toEqual([{ session_id: "s1", subagent_id: "sa-0-a" }]);
  });

  test("is answered in time, and honestly, though the store takes nothing", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.rows = [rowOf("sa-0-a")];
    const { receiver, intake, look, time } = await observe(gateway, { options: { cancel: true } });
    await look();
    const closed = { kind: "unavailable", retryable: true, reason: "the disk is full" } as const;
    intake.refusals.push(...Array.from({ length: 1_000 }, () => closed));
    const asked = receiver.cancel("sa-0-a");
    await time.advance(5_000);
    expect(await asked).toEqual({
      kind: "requested",
      text: "the child was told to stop; that it was is not stored yet",
    });
  });

  test("fails in words when there is no answer, no connection, or a refusal", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { receiver, time } = await observe(gateway, { options: { cancel: true } });
    gateway.answers.set("subagent.interrupt", () => {
      throw new GatewayError(4001, "not owned");
    });
    expect(await receiver.cancel("sa-0-a")).toEqual({ kind: "not_allowed", text: "answered 4001: not owned" });
    gateway.answers.set("subagent.interrupt", "hang");
    const unanswered = receiver.cancel("sa-0-a");
    await time.advance(10_000);
    expect(await unanswered).toMatchObject({ kind: "failed" });
    gateway.downAs = DOWN;
    gateway.drop();
    await time.advance(0);
    expect(await receiver.cancel("sa-0-a")).toEqual({ kind: "failed", text: "the gateway is not connected" });
  });
});
