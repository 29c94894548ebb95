import { describe, expect, test } from "vitest";
import { CoreRun, TEST_POLICY } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

const STALE_MS = START_MS + TEST_POLICY.staleAfterMs;
const DEADLINE_MS = STALE_MS + TEST_POLICY.reconcileDeadlineMs;

function runningChild(): CoreRun {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ sequence: 0, state: "created" }));
  return core;
}

const record = (core: CoreRun) => core.child("runner", "child-1") ?? expect.fail("no such child");

describe("a child that was named, and of which no verdict was given after all, is named again", () => {
  test("when it is silent", () => {
    const { liveness } = runningChild();
    const core = runningChild();
    expect(core.liveness.expire(STALE_MS)).toHaveLength(1);
    expect(core.liveness.expire(STALE_MS)).toEqual([]);
    core.liveness.nameAgain(record(core));
    expect(core.liveness.expire(STALE_MS)).toEqual(liveness.expire(STALE_MS));
    expect(core.liveness.expire(STALE_MS)).toEqual([]);
  });

  test("when its deadline has come", () => {
    const core = runningChild();
    core.take({ type: "tick", at: STALE_MS });
    const due = core.liveness.dueReconciliations(DEADLINE_MS);
    expect(due).toEqual([{ source: "runner", childId: "child-1", deadline: DEADLINE_MS }]);
    core.liveness.nameAgain(record(core));
    expect(core.liveness.dueReconciliations(DEADLINE_MS)).toEqual(due);
    expect(core.liveness.dueReconciliations(DEADLINE_MS)).toEqual([]);
  });

  test("not when it has spoken or ended since", () => {
    const core = runningChild();
    core.take({ type: "tick", at: STALE_MS });
    core.liveness.dueReconciliations(DEADLINE_MS);
    core.takeEvent(makeEvent({ sequence: 1, state: "cancelled" }), DEADLINE_MS);
    core.liveness.nameAgain(record(core));
    expect(core.liveness.dueReconciliations(DEADLINE_MS)).toEqual([]);
    expect(core.liveness.watched).toBe(0);
  });
});
