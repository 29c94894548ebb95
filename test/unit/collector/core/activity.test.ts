import { describe, expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

const child = (core: CoreRun) => core.child("runner", "child-1") ?? expect.fail("no such child");

function created(): CoreRun {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ sequence: 1, state: "created", at: 1_000 }));
  return core;
}

describe("the current activity", () => {
  test.each([
    ["a state", { state: "starting", activity: "old" }],
    ["a heartbeat", { kind: "heartbeat", activity: "old" }],
  ] as const)("is not replaced by what %s, filling a gap below it, was doing", (_what, late) => {
    const core = created();
    core.takeEvent(makeEvent({ sequence: 3, kind: "activity", activity: "new", at: 3_000 }));
    expect(core.takeEvent(makeEvent({ sequence: 2, at: 2_000, ...late })).status).toBe("gap_filled");
    expect(child(core)).toMatchObject({ activity: "new", activityAt: START_MS + 3_000, gaps: [] });
  });

  test("of an unsequenced source is the one it saw last", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ state: "created", at: 0 }));
    core.takeEvent(makeEvent({ kind: "activity", activity: "new", at: 5_000 }));
    expect(core.takeEvent(makeEvent({ kind: "activity", activity: "old", at: 4_000 })).status).toBe("applied");
    expect(child(core)).toMatchObject({ activity: "new", activityAt: START_MS + 5_000 });
  });

  test("ends with an activity that names none", () => {
    const core = created();
    core.takeEvent(makeEvent({ sequence: 2, kind: "activity", activity: "reading", at: 2_000 }));
    core.takeEvent(makeEvent({ sequence: 3, kind: "activity", at: 3_000 }));
    expect(child(core)).toMatchObject({ activity: undefined, activityAt: START_MS + 3_000 });
  });

  test("is progress; a heartbeat is life alone (P20)", () => {
    const core = created();
    core.takeEvent(makeEvent({ sequence: 2, kind: "activity", activity: "reading", at: 2_000 }));
    core.takeEvent(makeEvent({ sequence: 3, at: 720_000 }));
    expect(child(core)).toMatchObject({
      lastProgressAt: START_MS + 2_000,
      lastEvidenceAt: START_MS + 720_000,
      heartbeatAt: START_MS + 720_000,
    });
  });
});
