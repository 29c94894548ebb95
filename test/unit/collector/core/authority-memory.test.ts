import {
  AuthorityMemory,
  type AuthorityStatement,
  type ChildRecord,
  statementOf,
} from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { CoreRun, TEST_POLICY } from "../../../kit/core-run.ts";
import { makeEvent, makeSnapshot, type SnapshotMembers } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

const { staleAfterMs, reconcileDeadlineMs } = TEST_POLICY;
/** When the question about the child arises. */
const STALE_AT = staleAfterMs;

/** A child that was last heard of at the start and is stale since. */
function silentChild(sourceEpoch = "epoch-1"): ChildRecord {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ sequence: 0, state: "created", sourceEpoch }));
  core.take({ type: "tick", at: START_MS + STALE_AT });
  const record = core.child("runner", "child-1");
  if (record?.reconciliation === undefined) throw new Error("nobody asks about the child");
  return record;
}

function statement(members: SnapshotMembers): AuthorityStatement {
  return statementOf(makeSnapshot({ at: STALE_AT, ...members }), false);
}

/** What an authority says about the silent child that answered so, asked right after the question arose. */
function says(members: SnapshotMembers, record = silentChild()): string {
  const memory = new AuthorityMemory();
  memory.answered(statement(members), START_MS + STALE_AT, START_MS + STALE_AT + 5);
  return memory.answerAbout(record);
}

describe("what an authority says about a child at the deadline", () => {
  test("is that it cannot be reached, as long as it was not asked after the question arose", () => {
    const memory = new AuthorityMemory();
    expect(memory.answerAbout(silentChild())).toBe("unreachable");
    memory.answered(
      statement({ children: [{ childId: "child-1" }] }),
      START_MS + STALE_AT - 1,
      START_MS + STALE_AT + 5,
    );
    expect(memory.answerAbout(silentChild())).toBe("unreachable");
    memory.answered(statement({ children: [{ childId: "child-1" }] }), START_MS + STALE_AT, START_MS + STALE_AT + 5);
    expect(memory.answerAbout(silentChild())).toBe("lists_child");
  });

  test("is what it last said, also when a later question failed", () => {
    const memory = new AuthorityMemory();
    memory.answered(statement({ children: [{ childId: "child-1" }] }), START_MS + STALE_AT, START_MS + STALE_AT + 5);
    memory.failed("refused", START_MS + STALE_AT + reconcileDeadlineMs);
    expect(memory.answerAbout(silentChild())).toBe("lists_child");
    expect(memory.record).toMatchObject({ answers: 1, failures: 1, failuresInARow: 1, lastFailure: "refused" });
  });

  test("is nothing once the collector was away: the question begins anew", () => {
    const memory = new AuthorityMemory();
    memory.answered(statement({}), START_MS + STALE_AT, START_MS + STALE_AT + 5);
    memory.resumed();
    expect(memory.answerAbout(silentChild())).toBe("unreachable");
  });

  test("is an omission when it covers the child and is complete", () => {
    expect(says({})).toBe("omits_child");
    expect(says({ coverage: ["child-1"] })).toBe("omits_child");
  });

  test("is nothing when it does not cover the child, or not everything it covers", () => {
    expect(says({ coverage: ["child-2"] })).toBe("says_nothing");
    expect(says({ complete: false })).toBe("says_nothing");
    expect(says({ complete: false, children: [{ childId: "child-1" }] })).toBe("lists_child");
  });

  test("is no omission when it looked before the child was last heard of: the child knows better", () => {
    expect(says({ at: -1 })).toBe("says_nothing");
    expect(says({ at: -1, children: [{ childId: "child-1" }] })).toBe("lists_child");
    expect(says({ at: 0 })).toBe("omits_child");
  });

  test("is no omission when its epoch was left behind (A3)", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created", sourceEpoch: "epoch-1" }));
    core.takeEvent(makeEvent({ sequence: 0, state: "created", sourceEpoch: "epoch-2", at: 10 }));
    core.take({ type: "tick", at: START_MS + 10 + STALE_AT });
    const record = core.child("runner", "child-1") as ChildRecord;
    const memory = new AuthorityMemory();
    const askedAt = START_MS + 10 + STALE_AT;
    memory.answered(statement({ at: 10 + STALE_AT, sourceEpoch: "epoch-1" }), askedAt, askedAt);
    expect(memory.answerAbout(record)).toBe("says_nothing");
    memory.answered(statement({ at: 10 + STALE_AT, sourceEpoch: "epoch-3" }), askedAt, askedAt);
    expect(memory.answerAbout(record)).toBe("omits_child");
    memory.answered(statementOf(makeSnapshot({ at: 10 + STALE_AT, sourceEpoch: "epoch-3" }), true), askedAt, askedAt);
    expect(memory.answerAbout(record)).toBe("says_nothing");
  });
});
