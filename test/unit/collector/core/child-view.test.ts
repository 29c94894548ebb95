import { viewOf } from "@agent-lifecycle/collector/projection";
import { expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

test("a view says what is missing, how old each thing is, and null for what is not known", () => {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ sequence: 5, state: "running", at: 5_000, details: { inferred: true, name: "helper" } }));
  core.take({ type: "tick", at: START_MS + 65_000 });
  const view = viewOf(core.child("runner", "child-1") ?? expect.fail("no such child"));
  expect(view).toMatchObject({
    state: "running",
    stateAt: "2026-09-01T09:00:05.000Z",
    stateInferred: true,
    facts: { name: "helper" },
    provisional: true,
    missing: ["sequence_gap", "beginning"],
    gaps: [[0, 4]],
    history: "partial",
    stale: { since: "2026-09-01T09:01:05.000Z", reason: "deadline" },
    reconciliation: { requestedAt: "2026-09-01T09:01:05.000Z", deadline: "2026-09-01T09:01:35.000Z" },
    terminalEvidence: null,
    activity: null,
    heartbeatAt: null,
    lateEvidence: null,
  });
});

test("a view of a child without a state names none, and of an ended one shows the claims after the end", () => {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ childId: "unknown", at: 0 }));
  core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }));
  core.takeEvent(makeEvent({ sequence: 1, state: "failed", at: 1_000 }));
  core.takeEvent(makeEvent({ sequence: 2, state: "completed", at: 2_000 }));
  const [unknown, ended] = core.records().map(viewOf);
  expect(unknown).toMatchObject({ state: null, stateAt: null, provisional: true, missing: ["beginning"] });
  expect(ended).toMatchObject({
    state: "failed",
    terminalEvidence: "event",
    lateEvidence: { count: 1, lastObservedAt: "2026-09-01T09:00:02.000Z", lastState: "completed" },
  });
});

test("a view says what the state rests on: events, a snapshot, or nobody's answer", () => {
  const core = new CoreRun();
  const evidence = () =>
    core
      .records()
      .map(viewOf)
      .map(({ stateEvidence }) => stateEvidence);
  const show = (state: "starting" | "running", at: number) =>
    core.take({
      type: "snapshot",
      snapshot: makeSnapshot({ at, children: [{ childId: "child-1", state }] }),
      at: START_MS + at,
    });
  core.takeEvent(makeEvent({ sequence: 0, kind: "heartbeat", at: 0 }));
  expect(evidence()).toEqual([null]);
  core.takeEvent(makeEvent({ sequence: 1, state: "starting", at: 1_000 }));
  show("starting", 2_000);
  expect(evidence()).toEqual(["event"]);
  show("running", 3_000);
  expect(evidence()).toEqual(["authoritative_snapshot"]);
  core.takeEvent(makeEvent({ sequence: 2, state: "waiting", at: 4_000 }));
  expect(evidence()).toEqual(["event"]);
  core.take({ type: "tick", at: START_MS + 64_000 });
  core.take({ type: "reconciliation", source: "runner", childId: "child-1", outcome: "failed", at: START_MS + 94_000 });
  expect(evidence()).toEqual(["failed_reconciliation"]);
});
