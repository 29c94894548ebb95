import { isProvisional } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

const child = (core: CoreRun) => core.child("runner", "child-1") ?? expect.fail("no such child");

/** A child whose stream misses every odd sequence below `highest`. */
function withHoles(highest: number): CoreRun {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }));
  for (let sequence = 2; sequence <= highest; sequence += 2) core.takeEvent(makeEvent({ sequence, at: sequence }));
  return core;
}

describe("open gaps (P11)", () => {
  test("64 ranges are kept, and nothing is forgotten", () => {
    const core = withHoles(128);
    expect(child(core)).toMatchObject({ gapsForgotten: false });
    expect(child(core).gaps).toHaveLength(64);
    for (let sequence = 1; sequence < 128; sequence += 2) core.takeEvent(makeEvent({ sequence, at: sequence }));
    expect(isProvisional(child(core))).toBe(false);
  });

  test("of more than 64 the newest are kept, and the child stays provisional after those have closed", () => {
    const core = withHoles(130);
    expect(child(core).gaps).toHaveLength(64);
    expect(child(core).gaps[0]).toEqual([3, 3]);
    for (let sequence = 1; sequence < 130; sequence += 2) core.takeEvent(makeEvent({ sequence, at: sequence }));
    expect(child(core)).toMatchObject({ gaps: [], gapsForgotten: true });
    expect(isProvisional(child(core))).toBe(true);
  });

  test("that were forgotten are settled by an authority (P14)", () => {
    const core = withHoles(130);
    core.take({
      type: "snapshot",
      snapshot: makeSnapshot({ at: 500, children: [{ childId: "child-1", state: "created" }] }),
      at: START_MS + 500,
    });
    expect(isProvisional(child(core))).toBe(false);
  });

  test("close from both ends and in the middle", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }));
    core.takeEvent(makeEvent({ sequence: 9, at: 9 }));
    expect(child(core).gaps).toEqual([[1, 8]]);
    for (const sequence of [4, 1, 8]) core.takeEvent(makeEvent({ sequence, at: sequence }));
    expect(child(core).gaps).toEqual([
      [2, 3],
      [5, 7],
    ]);
  });
});

describe("L32a: a gap named while it is open", () => {
  function atFour(): CoreRun {
    const core = new CoreRun();
    const states = ["created", "starting", "running", "waiting", "running"] as const;
    for (const [sequence, state] of states.entries())
      core.takeEvent(makeEvent({ sequence, state, at: sequence * 1_000 }));
    return core;
  }

  test("7 is provisional, 5 and 6 are missing; once they arrive nothing is, and the state stays", () => {
    const core = atFour();
    const jump = core.takeEvent(makeEvent({ sequence: 7, state: "waiting", at: 7_000 }));
    expect(jump).toMatchObject({ status: "provisional", diagnostics: [{ code: "sequence_gap" }] });
    expect(child(core)).toMatchObject({ state: "waiting", gaps: [[5, 6]] });
    core.takeEvent(makeEvent({ sequence: 5, state: "waiting", at: 5_000 }));
    core.takeEvent(makeEvent({ sequence: 6, state: "running", at: 6_000 }));
    expect(child(core)).toMatchObject({ state: "waiting", stateAt: START_MS + 7_000, gaps: [], history: "complete" });
    expect(isProvisional(child(core))).toBe(false);
  });

  test("a gap on a heartbeat counts too", () => {
    const core = atFour();
    expect(core.takeEvent(makeEvent({ sequence: 7, at: 7_000 })).status).toBe("provisional");
    expect(child(core).gaps).toEqual([[5, 6]]);
  });

  test("diagnostics and reconciliation reports count for the sequence alone (P15)", () => {
    const core = atFour();
    const before = child(core);
    expect(core.takeEvent(makeEvent({ sequence: 6, kind: "diagnostic", at: 60_000 })).status).toBe("provisional");
    expect(core.takeEvent(makeEvent({ sequence: 5, kind: "reconciliation", at: 50_000 })).status).toBe("out_of_order");
    expect(child(core)).toEqual({ ...before, highestSequence: 6, gaps: [], outOfOrder: 1 });
  });
});

describe("the beginning of a stream (P12)", () => {
  test("a late created shows where it is, and nothing below is missing", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 9, state: "running", at: 9_000 }));
    expect(child(core)).toMatchObject({ gaps: [[0, 8]], history: "partial" });
    core.takeEvent(makeEvent({ sequence: 7, state: "created", at: 7_000 }));
    expect(child(core)).toMatchObject({ gaps: [[8, 8]], history: "complete", state: "running" });
    core.takeEvent(makeEvent({ sequence: 8, state: "starting", at: 8_000 }));
    expect(isProvisional(child(core))).toBe(false);
  });

  test("a first state that is created is the beginning, whichever kind of event says it", () => {
    const core = new CoreRun();
    const first = core.takeEvent(makeEvent({ sequence: 4, kind: "state_changed", state: "created", at: 0 }));
    expect(first).toMatchObject({ status: "applied", diagnostics: [] });
    expect(child(core)).toMatchObject({ history: "complete", gaps: [] });
  });

  test("an adopted child claims nothing of its past: a first state leaves no gap", () => {
    const core = new CoreRun();
    const lineage = { external: true, adoptedAt: "2026-09-01T09:00:00.000Z" };
    expect(core.takeEvent(makeEvent({ sequence: 5, state: "running", lineage })).status).toBe("applied");
    expect(child(core)).toMatchObject({ history: "from_adoption", gaps: [] });
    expect(isProvisional(child(core))).toBe(false);
  });

  test("an adopted child that is first heard of by a heartbeat still learns the state that came before it (P13)", () => {
    const core = new CoreRun();
    const lineage = { external: true, adoptedAt: "2026-09-01T09:00:00.000Z" };
    core.takeEvent(makeEvent({ sequence: 3, at: 3_000, lineage }));
    expect(core.takeEvent(makeEvent({ sequence: 2, state: "running", at: 2_000, lineage })).status).toBe("gap_filled");
    expect(child(core)).toMatchObject({ state: "running", gaps: [], history: "from_adoption" });
    expect(isProvisional(child(core))).toBe(false);
  });
});

describe("after the end (P7)", () => {
  function ended(): CoreRun {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }));
    core.takeEvent(makeEvent({ sequence: 3, at: 3_000 }));
    core.takeEvent(makeEvent({ sequence: 2, state: "cancelled", at: 2_000 }));
    return core;
  }

  test("what precedes the end is late, fills its gap, and is no claim against it (P6)", () => {
    const core = ended();
    expect(child(core)).toMatchObject({ state: "cancelled", gaps: [[1, 1]] });
    expect(core.takeEvent(makeEvent({ sequence: 1, state: "starting", at: 1_000 })).status).toBe("out_of_order");
    expect(child(core)).toMatchObject({ gaps: [], outOfOrder: 1, lateEvidence: undefined });
  });

  test("what follows it is a late claim, opens no gap, and is known when it comes again (P19)", () => {
    const core = ended();
    const claim = makeEvent({ sequence: 9, state: "running", at: 9_000 });
    expect(core.takeEvent(claim)).toMatchObject({ status: "terminal_immutable" });
    expect(core.takeEvent(claim)).toMatchObject({ status: "deduplicated" });
    expect(child(core)).toMatchObject({
      highestSequence: 9,
      gaps: [[1, 1]],
      lateEvidence: { count: 1, lastState: "running" },
    });
  });

  test("a gap that lies behind the end closes when its sequence arrives", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }));
    core.takeEvent(makeEvent({ sequence: 3, kind: "diagnostic", at: 3_000 }));
    core.takeEvent(makeEvent({ sequence: 1, state: "cancelled", at: 1_000 }));
    expect(child(core)).toMatchObject({ state: "cancelled", gaps: [[2, 2]] });
    const note = makeEvent({ sequence: 2, kind: "diagnostic", at: 2_000 });
    expect(core.takeEvent(note).status).toBe("terminal_immutable");
    expect(core.takeEvent(note).status).toBe("deduplicated");
    expect(isProvisional(child(core))).toBe(false);
  });
});
