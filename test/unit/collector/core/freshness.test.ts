import { checkFreshness, reconciliationOutcome, type StaleInput } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { CoreRun, type Policy } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

const POLICY: Policy = { staleAfterMs: 120_000, reconcileDeadlineMs: 30_000, missingGrace: 2 };
const RUNNER_CHILD = { source: "runner", childId: "child-1" } as const;

const seconds = (value: number) => START_MS + Math.round(value * 1_000);
const child = (core: CoreRun) => core.child("runner", "child-1") ?? expect.fail("no such child");
const tick = (core: CoreRun, at: number) => core.take({ type: "tick", at: seconds(at) }).stale.length;
const fail = (core: CoreRun, at: number) =>
  core.take({ type: "reconciliation", ...RUNNER_CHILD, outcome: "failed", at: seconds(at) });

/** A child that began at 0 and is in the state, with the next free sequence 3. */
function begun(state: "starting" | "running", policy: Policy = POLICY): CoreRun {
  const core = new CoreRun(policy);
  core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }));
  core.takeEvent(makeEvent({ sequence: 1, state: "starting", at: 0 }));
  if (state === "running") core.takeEvent(makeEvent({ sequence: 2, state, at: 0 }));
  return core;
}

describe("silence", () => {
  test("L10: wedged before the first turn: starting and stale for as long as somebody vouches, then cancelled", () => {
    const core = begun("starting");
    expect(tick(core, 119.999)).toBe(0);
    expect(tick(core, 120)).toBe(1);
    core.take({ type: "reconciliation", ...RUNNER_CHILD, outcome: "unavailable", at: seconds(150) });
    expect(tick(core, 700)).toBe(0);
    expect(child(core)).toMatchObject({ state: "starting", stale: { since: seconds(120) }, reconciliation: undefined });
    core.takeEvent(makeEvent({ sequence: 2, state: "cancelled", at: 780_000 }));
    expect(child(core)).toMatchObject({ state: "cancelled", stale: undefined, terminalEvidence: "event" });
  });

  test("L26: a result that arrives while stale ends it; a verdict after that is a no-op", () => {
    const core = begun("running");
    for (let at = 20; at <= 100; at += 20) core.takeEvent(makeEvent({ sequence: 2 + at / 20, at: at * 1_000 }));
    expect(tick(core, 220)).toBe(1);
    core.takeEvent(makeEvent({ sequence: 8, state: "completed", at: 240_000 }));
    const before = child(core);
    expect(before).toMatchObject({ state: "completed", stale: undefined, reconciliation: undefined });
    expect(fail(core, 251)).toMatchObject({ status: "terminal_immutable", audit: [] });
    expect(child(core)).toEqual(before);
  });

  test("L27: one heartbeat that is late by a little costs a moment of stale, and no more", () => {
    const core = begun("running", { ...POLICY, staleAfterMs: 90_000 });
    expect(tick(core, 90)).toBe(1);
    core.takeEvent(makeEvent({ sequence: 3, at: 92_500 }));
    expect(child(core)).toMatchObject({ stale: undefined, reconciliation: undefined });
    expect(core.liveness.dueReconciliations(seconds(125))).toEqual([]);
    expect(fail(core, 125)).toMatchObject({ status: "deduplicated" });
    expect(child(core).state).toBe("running");
  });

  test("L27, S8: a threshold below twice the heartbeat interval is refused, with the numbers", () => {
    expect(checkFreshness({ ...POLICY, staleAfterMs: 90_000 }, 46_000)).toMatch(/90000 ms .*46000 ms/);
    expect(checkFreshness({ ...POLICY, staleAfterMs: 92_000 }, 46_000)).toBeUndefined();
    expect(checkFreshness({ ...POLICY, staleAfterMs: 1 }, undefined)).toBeUndefined();
  });

  test("L28: a heartbeat after completion is one quiet diagnostic; nothing watches an ended child", () => {
    const core = begun("running");
    core.takeEvent(makeEvent({ sequence: 3, state: "completed", at: 100_000 }));
    const late = core.takeEvent(makeEvent({ sequence: 4, at: 100_400 }));
    expect(late).toMatchObject({ status: "terminal_immutable", diagnostics: [{ code: "terminal_immutable" }] });
    expect(core.liveness.watched).toBe(0);
    expect(core.liveness.nextDeadline).toBeUndefined();
    expect(tick(core, 100_000)).toBe(0);
  });

  test("L32b: a heartbeat after a silence clears it, and the end that follows keeps the time its source saw", () => {
    const core = begun("running");
    core.takeEvent(makeEvent({ sequence: 3, at: 100_000 }));
    expect(tick(core, 220)).toBe(1);
    core.takeEvent(makeEvent({ sequence: 4, at: 240_000 }));
    expect(child(core)).toMatchObject({ state: "running", stale: undefined });
    core.takeEvent(makeEvent({ sequence: 5, state: "failed", at: 150_000 }), seconds(241));
    expect(child(core)).toMatchObject({ state: "failed", stateAt: seconds(150), lastEvidenceAt: seconds(241) });
  });

  test("of a child without any state is nobody's concern: there is no row to mark", () => {
    const core = new CoreRun(POLICY);
    core.takeEvent(makeEvent({ sequence: 0, at: 0 }));
    expect(core.liveness.watched).toBe(0);
    expect(tick(core, 1_000)).toBe(0);
  });

  test("is not ended by a backfill from before it, so that the same silence is not found twice (S1, S2)", () => {
    const core = begun("running");
    core.takeEvent(makeEvent({ sequence: 5, at: 50_000 }));
    expect(tick(core, 170)).toBe(1);
    const before = child(core);
    const old = core.takeEvent(
      makeEvent({ sequence: 4, kind: "activity", activity: "x", at: 40_000 }),
      seconds(180),
      true,
    );
    expect(old.status).toBe("gap_filled");
    expect(child(core)).toMatchObject({ stale: before.stale, reconciliation: before.reconciliation, activity: "x" });
    core.takeEvent(makeEvent({ sequence: 6, at: 60_000 }), seconds(181), true);
    expect(child(core)).toMatchObject({ stale: undefined, silentSince: seconds(60) });
  });

  test("ends with an end, however old the report of it is", () => {
    const core = begun("running");
    core.takeEvent(makeEvent({ sequence: 4, at: 50_000 }));
    tick(core, 170);
    core.takeEvent(makeEvent({ sequence: 3, state: "failed", at: 40_000 }), seconds(180), true);
    expect(child(core)).toMatchObject({ state: "failed", stale: undefined, reconciliation: undefined });
  });

  test("is asked about anew when the collector was away: nobody is lost for an answer that it could not hear (S1)", () => {
    const core = begun("running");
    expect(tick(core, 120)).toBe(1);
    core.take({ type: "resumed", at: seconds(160) });
    expect(child(core)).toMatchObject({
      stale: { since: seconds(120) },
      reconciliation: { requestedAt: seconds(160), deadline: seconds(190) },
    });
    expect(core.liveness.dueReconciliations(seconds(189.999))).toEqual([]);
    expect(fail(core, 189.999)).toMatchObject({ status: "provisional", diagnostics: ["reconciliation_pending"] });
    expect(core.liveness.dueReconciliations(seconds(190))).toHaveLength(1);
    expect(fail(core, 190)).toMatchObject({ status: "applied" });
    expect(child(core).state).toBe("lost");
  });

  test("that the collector slept through does not count; who was stale before stays so", () => {
    const core = begun("running");
    core.take({ type: "resumed", at: seconds(10_000) });
    expect(child(core)).toMatchObject({ silentSince: seconds(10_000), lastEvidenceAt: seconds(0) });
    expect(tick(core, 10_119)).toBe(0);
    expect(tick(core, 10_120)).toBe(1);
    core.take({ type: "resumed", at: seconds(20_000) });
    expect(child(core).stale).toEqual({ since: seconds(10_120), reason: "deadline" });
  });
});

test("a collector whose clock was ahead counts every silence from its corrected time (S1)", () => {
  const core = begun("running");
  core.takeEvent(makeEvent({ sequence: 3, at: 86_400_000 }));
  core.take({ type: "resumed", at: seconds(40) });
  expect(child(core)).toMatchObject({ silentSince: seconds(40), lastEvidenceAt: seconds(86_400) });
  expect(tick(core, 159.999)).toBe(0);
  expect(tick(core, 160)).toBe(1);
});

describe("L29: verdicts and evidence that race", () => {
  test("(a) claims after a loss are counted beside it and change nothing", () => {
    const core = begun("running");
    tick(core, 120);
    expect(fail(core, 150)).toMatchObject({ status: "applied", audit: [{ from: "running", to: "lost" }] });
    core.takeEvent(makeEvent({ sequence: 3, kind: "activity", activity: "back", at: 160_000 }));
    core.takeEvent(makeEvent({ sequence: 4, state: "completed", at: 200_000 }));
    expect(child(core)).toMatchObject({
      state: "lost",
      terminalEvidence: "failed_reconciliation",
      activity: undefined,
      lateEvidence: { count: 2, lastObservedAt: seconds(200), lastState: "completed" },
    });
  });

  test("(b) evidence that was stored first wins over a verdict that was decided earlier (S7)", () => {
    const core = begun("running");
    const [verdict, ...others] = core.liveness.expire(seconds(120));
    expect(others).toEqual([]);
    core.takeEvent(makeEvent({ sequence: 3, at: 120_001 }));
    expect(core.fold(verdict ?? expect.fail())).toMatchObject({ status: "deduplicated", changes: [] });
    expect(child(core).stale).toBeUndefined();
    expect(tick(core, 240.001)).toBe(1);
  });

  test("(b) an end that was stored first leaves nothing to lose", () => {
    const core = begun("running");
    tick(core, 120);
    core.takeEvent(makeEvent({ sequence: 3, state: "completed", at: 100_000 }), seconds(149));
    expect(fail(core, 150)).toMatchObject({ status: "terminal_immutable", audit: [] });
    expect(child(core)).toMatchObject({ state: "completed", stateAt: seconds(100) });
  });

  test("a verdict on a child that nobody knows is refused with a diagnostic", () => {
    const core = new CoreRun(POLICY);
    const verdict: StaleInput = { type: "stale", ...RUNNER_CHILD, at: 1, silentSince: 0, deadline: 2 };
    expect(core.fold(verdict)).toMatchObject({ status: "rejected", diagnostics: [{ code: "unknown_child" }] });
    expect(fail(core, 1)).toMatchObject({ status: "rejected", diagnostics: ["unknown_child"] });
  });

  test("a request whose deadline has come is named once, also when the record changes before the answer", () => {
    const core = begun("running");
    tick(core, 120);
    expect(core.liveness.dueReconciliations(seconds(149))).toEqual([]);
    expect(core.liveness.dueReconciliations(seconds(150))).toEqual([{ ...RUNNER_CHILD, deadline: seconds(150) }]);
    core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0, activity: "forged" }));
    expect(child(core).conflicts).toBe(1);
    expect(core.liveness.dueReconciliations(seconds(151))).toEqual([]);
  });
});

describe("L31: clocks that disagree", () => {
  test("(a) a source that lags by 939 s is fresh by receipt", () => {
    const core = new CoreRun(POLICY);
    core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }), seconds(939));
    for (let index = 1; index <= 30; index += 1) {
      core.takeEvent(makeEvent({ sequence: index, at: index * 20_000 }), seconds(939 + index * 20));
      expect(tick(core, 939 + index * 20 + 19)).toBe(0);
    }
  });

  test("(b) an event from the future is stale 120 s after its receipt", () => {
    const core = new CoreRun(POLICY);
    core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 3_600_000 }), seconds(0));
    expect(tick(core, 119)).toBe(0);
    expect(tick(core, 120)).toBe(1);
  });

  test("(c) a clock that steps back changes no order: the sequence has it", () => {
    const core = begun("running");
    core.takeEvent(makeEvent({ sequence: 3, kind: "activity", activity: "first", at: 90_000 }));
    core.takeEvent(makeEvent({ sequence: 4, kind: "activity", activity: "second", at: 30_000 }));
    const waiting = core.takeEvent(makeEvent({ sequence: 5, state: "waiting", at: 31_000 }));
    expect(waiting.status).toBe("applied");
    expect(child(core)).toMatchObject({ state: "waiting", activity: "second", lastObservedAt: seconds(90) });
  });
});

describe("S6: who answers", () => {
  const silent = child(begun("running"));
  const promising = { ...silent, capabilities: { ...silent.capabilities, heartbeat: "known" as const } };

  test.each([
    [silent, "lists_child", { outcome: "unavailable" }],
    [promising, "says_nothing", { outcome: "unavailable" }],
    [silent, "unreachable", { outcome: "failed", cause: "authority_unreachable" }],
    [silent, "omits_child", { outcome: "failed", cause: "omitted_by_authority" }],
    [silent, "none", { outcome: "unavailable" }],
    [promising, "none", { outcome: "failed", cause: "heartbeats_stopped" }],
  ] as const)("%#: the outcome, and why it failed", (record, answer, outcome) => {
    expect(reconciliationOutcome(record, answer)).toEqual(outcome);
  });
});
