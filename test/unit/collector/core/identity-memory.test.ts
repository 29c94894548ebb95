import { IdentityMemory, identityQuestion } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";

describe("the memory of identities", () => {
  test("forgets the oldest beyond its bound", () => {
    const memory = new IdentityMemory(2);
    const core = new CoreRun();
    const events = [0, 1, 2].map((at) => makeEvent({ state: "created", childId: `child-${at}`, eventId: `${at}`, at }));
    for (const event of events) memory.remember(event, core.takeEvent(event));
    expect(events.map((event) => memory.answer(undefined, event))).toEqual(["new", "same", "same"]);
  });

  test("tells other content under a known identity from the same", () => {
    const memory = new IdentityMemory();
    const event = makeEvent({ state: "created", eventId: "e" });
    memory.remember(event, new CoreRun().takeEvent(event));
    expect(memory.answer(undefined, event)).toBe("same");
    expect(memory.answer(undefined, { ...event, activity: "x" })).toBe("different");
    expect(memory.answer(undefined, { ...event, source: "other" })).toBe("new");
  });

  test("knows a snapshot by its identifier alone, source by source (A2)", () => {
    const memory = new IdentityMemory();
    const snapshot = makeSnapshot({ snapshotId: "s" });
    expect(memory.answerSnapshot(snapshot)).toBe("new");
    memory.rememberSnapshot(snapshot);
    expect(memory.answerSnapshot({ ...snapshot, children: [{ childId: "c", state: "running" }] })).toBe("same");
    expect(memory.answerSnapshot({ ...snapshot, source: "other" })).toBe("new");
  });
});

describe("the question of identity", () => {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ sequence: 0, state: "created" }));
  core.takeEvent(makeEvent({ sequence: 5, at: 5_000 }));
  const record = core.child("runner", "child-1");

  test.each([
    ["above all that was received", 6],
    ["inside an open gap", 3],
  ])("is not asked of a sequence %s: it was never received", (_where, sequence) => {
    expect(identityQuestion(record, makeEvent({ sequence, at: 9_000 }))).toBeUndefined();
  });

  test("is asked of a sequence that may have been received, of another epoch, and of an unsequenced event", () => {
    expect(identityQuestion(record, makeEvent({ sequence: 5, at: 9_000 }))).toMatchObject({
      by: "sequence",
      sequence: 5,
    });
    expect(identityQuestion(record, makeEvent({ sequence: 6, sourceEpoch: "epoch-2" }))).toMatchObject({
      by: "sequence",
      sourceEpoch: "epoch-2",
    });
    expect(identityQuestion(record, makeEvent({ eventId: "e" }))).toEqual({
      by: "eventId",
      source: "runner",
      eventId: "e",
    });
  });
});
