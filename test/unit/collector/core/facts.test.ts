import type { ChildFacts } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { type EventMembers, makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

/** The facts a child is left with after these events, one second apart. */
function factsAfter(...events: readonly EventMembers[]): ChildFacts | undefined {
  return run(...events).child("runner", "child-1")?.facts;
}

function run(...events: readonly EventMembers[]): CoreRun {
  const core = new CoreRun();
  for (const [sequence, members] of events.entries()) {
    const result = core.takeEvent(makeEvent({ sequence, at: sequence * 1_000, ...members }));
    expect(result.status).toBe("applied");
  }
  return core;
}

const BEGUN = [{ state: "created" }, { state: "starting" }] as const;
const ASKING = { state: "waiting", details: { waitingOn: { kind: "permission", text: "run tests?" } } } as const;

describe("what a child waits on", () => {
  test("is shown while it waits, through heartbeats", () => {
    expect(factsAfter(...BEGUN, ASKING, {})?.waitingOn).toEqual({ kind: "permission", text: "run tests?" });
  });

  test("is gone with the next state", () => {
    expect(factsAfter(...BEGUN, ASKING, { state: "running" })).toBeUndefined();
  });

  test("is not believed of a child that says it is not waiting", () => {
    expect(factsAfter(...BEGUN, { state: "running", details: { waitingOn: { kind: "user" } } })).toBeUndefined();
  });

  test("is gone when the child is declared lost", () => {
    const core = run(...BEGUN, ASKING);
    core.take({ type: "tick", at: START_MS + 70_000 });
    core.take({
      type: "reconciliation",
      source: "runner",
      childId: "child-1",
      outcome: "failed",
      at: START_MS + 100_000,
    });
    expect(core.child("runner", "child-1")).toMatchObject({ state: "lost", facts: undefined });
  });

  test("outlives a snapshot that confirms the state and says nothing of it", () => {
    const core = run(...BEGUN, ASKING);
    const children = [{ childId: "child-1", state: "waiting", details: { model: "m" } }] as const;
    core.take({ type: "snapshot", snapshot: makeSnapshot({ at: 9_000, children }), at: START_MS + 9_000 });
    expect(core.child("runner", "child-1")?.facts).toMatchObject({ model: "m", waitingOn: { kind: "permission" } });
  });
});

describe("the tool in use", () => {
  const USING = { kind: "activity", activity: "editing", details: { tool: "edit" } } as const;

  test("stays through heartbeats", () => {
    expect(factsAfter(...BEGUN, USING, { details: { name: "helper" } })).toEqual({ tool: "edit", name: "helper" });
  });

  test("is forgotten by the next activity that names none", () => {
    expect(factsAfter(...BEGUN, USING, { kind: "activity", activity: "thinking" })).toBeUndefined();
  });
});

describe("a state that the source only implied", () => {
  const IMPLIED = { state: "running", details: { inferred: true } } as const;

  test("is marked as inferred", () => {
    expect(factsAfter(...BEGUN, IMPLIED)).toEqual({ stateInferred: true });
  });

  test("stays marked while nothing else is said of the state", () => {
    expect(factsAfter(...BEGUN, IMPLIED, {}, { kind: "activity", activity: "x" })).toEqual({ stateInferred: true });
  });

  test("the mark is gone with the next reported state", () => {
    expect(factsAfter(...BEGUN, IMPLIED, { state: "waiting" })).toBeUndefined();
  });
});

describe("causes", () => {
  test("belong to the end", () => {
    const details = { cause: "timeout", exitCode: 124, signal: "SIGTERM" };
    expect(factsAfter(...BEGUN, { state: "running", details })).toBeUndefined();
    expect(factsAfter(...BEGUN, { state: "failed", details })).toEqual(details);
  });

  test("of a late claim are not taken over (P19)", () => {
    const core = run(...BEGUN, { state: "cancelled", details: { cause: "user_abort" } });
    core.takeEvent(makeEvent({ sequence: 3, at: 3_000, state: "failed", details: { cause: "crash" } }));
    expect(core.child("runner", "child-1")?.facts).toEqual({ cause: "user_abort" });
  });
});

describe("L17: a cancel that was asked for", () => {
  const ASKED = { kind: "activity", details: { cancelRequestedAt: "2026-09-01T09:00:02.000Z" } } as const;
  const asked = { cancelRequestedAt: "2026-09-01T09:00:02.000Z" };

  test("changes no state", () => {
    expect(run(...BEGUN, ASKED).child("runner", "child-1")).toMatchObject({ state: "starting", facts: asked });
  });

  test("and confirmed is cancelled", () => {
    expect(run(...BEGUN, ASKED, { state: "cancelled" }).child("runner", "child-1")).toMatchObject({
      state: "cancelled",
      facts: asked,
    });
  });

  test("and not honoured is completed, with the request still to be seen", () => {
    const core = run(...BEGUN, { state: "running" }, ASKED, { state: "completed" });
    expect(core.child("runner", "child-1")).toMatchObject({ state: "completed", facts: asked });
  });

  test("and never answered goes stale and is lost, never cancelled", () => {
    const core = run(...BEGUN, ASKED);
    core.take({ type: "tick", at: START_MS + 62_000 });
    expect(core.child("runner", "child-1")).toMatchObject({ state: "starting", stale: { reason: "deadline" } });
    core.take({
      type: "reconciliation",
      source: "runner",
      childId: "child-1",
      outcome: "failed",
      at: START_MS + 92_000,
    });
    expect(core.child("runner", "child-1")).toMatchObject({ state: "lost", facts: asked });
  });
});

describe("a request to end", () => {
  const cancelRequestedAt = "2026-09-01T09:00:02.000Z";
  const REQUEST = { kind: "diagnostic", details: { cancelRequestedAt, name: "not learned" } } as const;

  test("is kept from a diagnostic, which teaches nothing else and is no sign of life (P15, D5)", () => {
    const core = run(...BEGUN, REQUEST);
    expect(core.child("runner", "child-1")).toMatchObject({
      state: "starting",
      facts: { cancelRequestedAt },
      lastEvidenceAt: START_MS + 1_000,
    });
    expect(factsAfter(...BEGUN, REQUEST)).toEqual({ cancelRequestedAt });
  });

  test("stays beside an end that did not honour it", () => {
    expect(factsAfter(...BEGUN, REQUEST, { state: "running" }, { state: "completed" })).toEqual({ cancelRequestedAt });
  });
});
