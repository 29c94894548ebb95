import { describe, expect, test } from "vitest";
import { payloadOf, rowOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_19, GATEWAY_0_20_6 } from "../../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { settled } from "./manual-time.ts";
import { observe } from "./observation.ts";

const SESSION = "s1";

function replayGateway(): GatewayDouble {
  const gateway = new GatewayDouble(GATEWAY_0_20_6);
  gateway.openSession(SESSION);
  return gateway;
}

describe("a door that refuses", () => {
  test("events wait and are offered again; nothing counts as read before it is stored", async () => {
    const gateway = replayGateway();
    const { intake, look, time } = await observe(gateway);
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    intake.refusals.push(
      { kind: "overloaded", retryAfterSeconds: 5 },
      { kind: "unavailable", retryable: true, reason: "disk" },
    );
    await look();
    expect(intake.states).toEqual({});
    await time.advance(6_000);
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "starting", "running"]);
  });

  test("a refused snapshot is replaced by that of the next look", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    const { intake, look } = await observe(gateway);
    intake.refusals.push({ kind: "overloaded", retryAfterSeconds: 5 });
    gateway.rows = [rowOf("sa-0-a")];
    await look();
    expect(intake.states).toEqual({});
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "running" });
  });
});

describe("times", () => {
  test("a wall clock that steps back puts no later frame before an earlier one", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    const { intake, time, look } = await observe(gateway);
    time.wallOffsetMs = -3_600_000;
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "completed" });
  });

  test("a snapshot is as of the question, not of the answer", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_19);
    gateway.answers.set("delegation.status", "hang");
    const { intake, time } = await observe(gateway);
    expect(intake.snapshots).toEqual([]);
    const askedAt = time.wallNow();
    gateway.answers.clear();
    gateway.rows = [rowOf("sa-0-a")];
    gateway.sendText(
      JSON.stringify({ jsonrpc: "2.0", id: gateway.requests.at(-1)?.id, result: { active: gateway.rows } }),
    );
    await settled();
    expect(Date.parse(intake.snapshots[0]?.snapshot.observedAt ?? "")).toBe(askedAt);
  });
});
