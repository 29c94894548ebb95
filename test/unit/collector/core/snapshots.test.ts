import { describe, expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { makeEvent, makeSnapshot, type SnapshotMembers } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

const child = (core: CoreRun) => core.child("runner", "child-1") ?? expect.fail("no such child");
const show = (core: CoreRun, members: SnapshotMembers, receivedAt = members.at ?? 0) =>
  core.take({ type: "snapshot", snapshot: makeSnapshot(members), at: START_MS + receivedAt });

function running(): CoreRun {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }));
  core.takeEvent(makeEvent({ sequence: 1, state: "starting", at: 1_000 }));
  core.takeEvent(makeEvent({ sequence: 2, state: "running", at: 2_000 }));
  return core;
}

describe("a snapshot that is late", () => {
  test("L29c: is ignored when the state it saw has been overtaken (A4)", () => {
    const core = running();
    core.takeEvent(makeEvent({ sequence: 3, state: "waiting", at: 120_000 }));
    const late = show(core, { at: 100_000, children: [{ childId: "child-1", state: "running" }] }, 130_000);
    expect(late).toMatchObject({ status: "applied", diagnostics: ["snapshot_outdated"], audit: [] });
    expect(child(core).state).toBe("waiting");
  });

  test("takes no newer activity back", () => {
    const core = running();
    core.takeEvent(makeEvent({ sequence: 3, kind: "activity", activity: "new", at: 50_000 }));
    show(core, { at: 40_000, children: [{ childId: "child-1", activity: "old" }] }, 51_000);
    expect(child(core)).toMatchObject({ activity: "new", activityAt: START_MS + 50_000 });
  });

  test("of an epoch that the source has left is refused whole; of one that the child has left, for that child", () => {
    const core = running();
    core.takeEvent(makeEvent({ childId: "child-2", sequence: 0, state: "created", at: 0 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 0, at: 30_000 }));
    const mixed = show(core, {
      at: 40_000,
      children: [{ childId: "child-1" }, { childId: "child-2", state: "starting" }],
    });
    expect(mixed).toMatchObject({
      status: "applied",
      diagnostics: ["epoch_conflict"],
      audit: [{ childId: "child-2", from: "created", to: "starting" }],
    });
    show(core, { sourceEpoch: "epoch-2", at: 50_000 });
    const left = show(core, { sourceEpoch: "epoch-1", at: 60_000, children: [{ childId: "child-3" }] });
    expect(left).toMatchObject({ status: "out_of_order", diagnostics: ["epoch_conflict"], audit: [] });
    expect(core.child("runner", "child-3")).toBeUndefined();
  });
});

describe("a snapshot that states an activity", () => {
  test("is progress when the activity is a new one, and none when it is repeated (P20)", () => {
    const core = running();
    show(core, { at: 10_000, children: [{ childId: "child-1", activity: "tests" }] });
    expect(child(core)).toMatchObject({ activity: "tests", lastProgressAt: START_MS + 10_000 });
    show(core, { at: 20_000, children: [{ childId: "child-1", activity: "tests" }] });
    expect(child(core)).toMatchObject({ lastProgressAt: START_MS + 10_000, lastEvidenceAt: START_MS + 20_000 });
    show(core, { at: 30_000, complete: false, children: [{ childId: "child-1", activity: "lint" }] });
    expect(child(core)).toMatchObject({ activity: "lint", lastProgressAt: START_MS + 30_000 });
  });
});

describe("omission (A6)", () => {
  test("L13: nested work that outlives its parent: stale, two misses, lost at the deadline, and no cascade (P18)", () => {
    const core = new CoreRun({ staleAfterMs: 120_000, reconcileDeadlineMs: 30_000, missingGrace: 2 });
    for (const [childId, parentChildId] of [
      ["root", undefined],
      ["c1", "root"],
      ["c2", "c1"],
    ] as const) {
      const lineage = { rootChildId: "root", ...(parentChildId === undefined ? {} : { parentChildId }) };
      const states = ["created", "starting", "running"] as const;
      for (const [sequence, state] of states.entries()) {
        core.takeEvent(makeEvent({ childId, lineage, sequence, state, at: 0 }));
      }
    }
    const c1 = { rootChildId: "root", parentChildId: "root" };
    core.takeEvent(makeEvent({ childId: "c2", lineage: { rootChildId: "root" }, sequence: 3, at: 100_000 }));
    core.takeEvent(makeEvent({ childId: "c1", lineage: c1, sequence: 3, state: "completed", at: 100_000 }));
    core.takeEvent(makeEvent({ childId: "root", sequence: 3, at: 200_000 }));
    const c2 = () => core.child("runner", "c2") ?? expect.fail("no such child");
    expect(core.take({ type: "tick", at: START_MS + 220_000 }).stale).toEqual(['["runner","c2"]']);
    show(core, { at: 250_000, coverage: ["c2"] });
    show(core, { at: 280_000, coverage: ["c2"] });
    expect(c2()).toMatchObject({ state: "running", misses: 2, stale: { reason: "deadline" } });
    const verdict = { type: "reconciliation", source: "runner", childId: "c2", outcome: "failed" } as const;
    expect(core.take({ ...verdict, at: START_MS + 280_000 })).toMatchObject({
      audit: [{ from: "running", to: "lost" }],
    });
    expect(core.child("runner", "c1")).toMatchObject({ state: "completed", lineage: c1 });
    expect(core.child("runner", "root")).toMatchObject({ state: "running", stale: undefined });
  });

  test("asks again when further misses follow an answer that was not to be had", () => {
    const core = running();
    show(core, { at: 10_000 });
    show(core, { at: 20_000 });
    core.take({
      type: "reconciliation",
      source: "runner",
      childId: "child-1",
      outcome: "unavailable",
      at: START_MS + 21_000,
    });
    expect(child(core)).toMatchObject({ reconciliation: undefined, stale: { reason: "snapshot_omission" } });
    show(core, { at: 30_000 });
    expect(child(core)).toMatchObject({
      stale: { since: START_MS + 20_000 },
      reconciliation: { requestedAt: START_MS + 30_000, deadline: START_MS + 60_000 },
    });
  });

  test("is started over by any accepted evidence", () => {
    const core = running();
    show(core, { at: 10_000 });
    core.takeEvent(makeEvent({ sequence: 3, at: 15_000 }));
    show(core, { at: 20_000 });
    expect(child(core)).toMatchObject({ misses: 1, stale: undefined });
  });

  test("by a view of an epoch that the child has left counts nothing (A3)", () => {
    const core = running();
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 0, at: 30_000 }));
    show(core, { sourceEpoch: "epoch-1", at: 40_000 });
    show(core, { sourceEpoch: "epoch-1", at: 41_000 });
    expect(child(core)).toMatchObject({ misses: 0, stale: undefined });
  });

  test("of a child outside the coverage counts nothing", () => {
    const core = running();
    show(core, { at: 10_000, coverage: ["someone-else"] });
    show(core, { at: 20_000, coverage: ["someone-else"] });
    expect(child(core)).toMatchObject({ misses: 0, stale: undefined });
  });
});

describe("a child that a snapshot discovered", () => {
  const LISTED = { at: 5_000, children: [{ childId: "child-1", state: "running" }] } as const;

  test("has its lineage assumed: the first statement is learned, the second one compared (P4)", () => {
    const core = new CoreRun();
    show(core, LISTED);
    const first = core.takeEvent(makeEvent({ sequence: 7, at: 6_000, lineage: { rootChildId: "boss", attempt: 2 } }));
    expect(first.status).toBe("applied");
    expect(child(core)).toMatchObject({ lineage: { rootChildId: "boss", attempt: 2 }, gaps: [] });
    const second = core.takeEvent(makeEvent({ sequence: 8, at: 7_000 }));
    expect(second).toMatchObject({ status: "conflict", diagnostics: [{ code: "lineage_conflict" }] });
  });

  test("had a lineage stated by the snapshot itself: it is compared at once", () => {
    const core = new CoreRun();
    const lineage = { rootChildId: "boss", attempt: 1, external: false };
    show(core, { ...LISTED, children: [{ ...LISTED.children[0], lineage }] });
    expect(core.takeEvent(makeEvent({ sequence: 7, at: 6_000 })).status).toBe("conflict");
    const contradicted = show(core, {
      at: 8_000,
      children: [{ ...LISTED.children[0], lineage: { ...lineage, attempt: 2 } }],
    });
    expect(contradicted.diagnostics).toEqual(["lineage_conflict"]);
    expect(child(core).conflicts).toBe(2);
  });

  test("an incomplete view discovers nobody (A7)", () => {
    const core = new CoreRun();
    expect(show(core, { ...LISTED, complete: false }).diagnostics).toEqual(["snapshot_incomplete"]);
    expect(core.records()).toEqual([]);
  });
});

test("a snapshot whose sequence is ahead says what has become of the events between: they change nothing any more", () => {
  const core = running();
  show(core, { at: 50_000, children: [{ childId: "child-1", state: "waiting", sequence: 6 }] });
  expect(child(core)).toMatchObject({ state: "waiting", highestSequence: 6, gaps: [] });
  for (const sequence of [3, 6]) {
    expect(core.takeEvent(makeEvent({ sequence, state: "completed", at: 40_000 })).status).toBe("out_of_order");
  }
  expect(core.takeEvent(makeEvent({ sequence: 7, state: "completed", at: 60_000 })).status).toBe("applied");
});
