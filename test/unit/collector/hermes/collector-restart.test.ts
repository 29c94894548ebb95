import type { WatermarkMemory, WatermarkRecord } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { payloadOf, rowOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_20_6 } from "../../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { FoldingIntake } from "./folding-intake.ts";
import { ManualTime } from "./manual-time.ts";
import { observe } from "./observation.ts";

const SESSION = "s1";

function replayGateway(): GatewayDouble {
  const gateway = new GatewayDouble(GATEWAY_0_20_6);
  gateway.openSession(SESSION);
  return gateway;
}

describe("after the collector's own restart", () => {
  function memory(): WatermarkMemory & { record: WatermarkRecord | undefined } {
    const kept: WatermarkMemory & { record: WatermarkRecord | undefined } = {
      record: undefined,
      load: async () => kept.record,
      save: async (record) => {
        kept.record = record;
      },
    };
    return kept;
  }

  test("frames that were stored are not read again, and children that were known are not begun again", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.rows = [rowOf("sa-0-a")];
    const watermarks = memory();
    const time = new ManualTime();
    const intake = new FoldingIntake(time.wallNow);
    const first = await observe(gateway, { time, intake, parts: { watermarks } });
    await first.receiver.shutdown();
    const before = intake.events.length;
    gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-a", { tool_name: "web" }));
    const { childId, state, epoch, lineage } = intake.child("sa-0-a");
    const knownChildren = () => [{ childId, state, sourceEpoch: epoch, lineage }];
    await observe(gateway, { time, intake, parts: { watermarks, knownChildren } });
    expect(intake.events.slice(before).map(({ event, status }) => [event.activity, status])).toEqual([
      ["web", "applied"],
    ]);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", conflicts: 0 });
  });

  test("a start that is read again, for want of a memory, begins no child that is known", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    const lineage = { rootChildId: "sa-0-a", attempt: 0, external: false };
    const known = { childId: "sa-0-a", state: "running" as const, sourceEpoch: gateway.epoch, lineage };
    const { intake } = await observe(gateway, { parts: { knownChildren: () => [known] } });
    expect(intake.events.map(({ event }) => event.activity)).toEqual(["started"]);
  });

  test("a child that waits for its turn is not missed by a collector that only knows it from before", async () => {
    const gateway = replayGateway();
    gateway.rows = [rowOf("sa-1-b")];
    const lineage = { rootChildId: "x", attempt: 0, external: false };
    const known = (childId: string, sourceEpoch: string) => ({
      childId,
      state: "created" as const,
      sourceEpoch,
      lineage,
    });
    const { receiver } = await observe(gateway, {
      parts: { knownChildren: () => [known("waits", "epoch-1"), known("of an earlier run", "epoch-0")] },
    });
    const snapshot = await receiver.snapshotSource.fetch(new AbortController().signal);
    expect(snapshot).toMatchObject({ complete: true, coverage: ["sa-1-b", "of an earlier run"] });
  });

  test("watermarks of another run of the gateway count for nothing", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    const watermarks = memory();
    watermarks.record = { epoch: "epoch-0", sessions: { [SESSION]: { lastSeen: 99, restarts: 0 } } };
    const { intake } = await observe(gateway, { parts: { watermarks } });
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    expect(watermarks.record).toEqual({ epoch: "epoch-1", sessions: { [SESSION]: { lastSeen: 1, restarts: 0 } } });
  });

  test("watermarks that cannot be read or kept are told, and stop nothing", async () => {
    const gateway = replayGateway();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    const broken: WatermarkMemory = {
      load: () => Promise.reject(new Error("EACCES")),
      save: () => Promise.reject(new Error("EROFS")),
    };
    const { intake, logged } = await observe(gateway, { parts: { watermarks: broken } });
    expect(intake.states).toEqual({ "sa-0-a": "running" });
    expect(logged.filter(({ text }) => text.includes("cannot be kept"))).toHaveLength(2);
  });
});
