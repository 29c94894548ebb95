import { describe, expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";

const child = (core: CoreRun) => core.child("runner", "child-1") ?? expect.fail("no such child");

describe("lineage (P4)", () => {
  test("an event that states no parent contradicts no known one", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created", lineage: { parentChildId: "boss" } }));
    expect(core.takeEvent(makeEvent({ sequence: 1, at: 1_000 })).status).toBe("applied");
    expect(child(core).lineage.parentChildId).toBe("boss");
  });

  test("a conflict claims no identity: the true event may still come (P3)", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created" }));
    const wrong = makeEvent({ sequence: 1, at: 1_000, lineage: { rootChildId: "other" } });
    expect(core.takeEvent(wrong).status).toBe("conflict");
    expect(core.takeEvent(wrong).status).toBe("conflict");
    expect(core.takeEvent(makeEvent({ sequence: 1, at: 1_000 })).status).toBe("applied");
    expect(child(core)).toMatchObject({ conflicts: 2, gaps: [] });
  });

  test("an event that was rejected as illegal does claim its identity", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created" }));
    const illegal = makeEvent({ sequence: 1, state: "completed", at: 1_000 });
    expect(core.takeEvent(illegal).status).toBe("rejected");
    expect(core.takeEvent(illegal).status).toBe("deduplicated");
  });

  test("the time of an adoption is learned when it is told later", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "running", lineage: { external: true } }));
    const adoptedAt = "2026-09-01T08:00:00.000Z";
    core.takeEvent(makeEvent({ sequence: 1, at: 1_000, lineage: { external: true, adoptedAt } }));
    expect(child(core).lineage.adoptedAt).toBe(adoptedAt);
  });

  test("children of the same name from two sources are two children", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created" }));
    core.takeEvent(makeEvent({ source: "other", sequence: 0, state: "created", lineage: { attempt: 3 } }));
    expect(core.records()).toMatchObject([
      { key: 0, source: "runner", lineage: { attempt: 0 } },
      { key: 1, source: "other", lineage: { attempt: 3 } },
    ]);
  });
});

test("L32c, P18: the end of a root ends no child, and the tree stays live until its last member ends", () => {
  const core = new CoreRun();
  const lineage = { rootChildId: "root", parentChildId: "root" };
  core.takeEvent(makeEvent({ childId: "root", sequence: 0, state: "created", at: 0 }));
  core.takeEvent(makeEvent({ childId: "leaf", lineage, sequence: 0, state: "created", at: 10 }));
  const before = core.child("runner", "leaf");
  core.takeEvent(makeEvent({ childId: "root", sequence: 1, state: "failed", at: 100 }));
  expect(core.child("runner", "leaf")).toBe(before);
  core.takeEvent(makeEvent({ childId: "leaf", lineage, sequence: 1, state: "starting", at: 30_000 }));
  expect(core.child("runner", "leaf")).toMatchObject({ state: "starting", lateEvidence: undefined });
  expect(core.child("runner", "root")).toMatchObject({ state: "failed" });
});
