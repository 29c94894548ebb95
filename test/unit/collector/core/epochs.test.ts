import { identityQuestion, isProvisional } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

/** A child that runs, in sequences 0 to 2 of `epoch-1`, observed in the first three seconds. */
function running(): CoreRun {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 0 }));
  core.takeEvent(makeEvent({ sequence: 1, state: "starting", at: 1_000 }));
  core.takeEvent(makeEvent({ sequence: 2, state: "running", at: 2_000 }));
  return core;
}

const child = (core: CoreRun) => core.child("runner", "child-1");

describe("epochs left behind (P5)", () => {
  const newest = 20;
  function manyEpochs(): CoreRun {
    const core = running();
    for (let epoch = 2; epoch <= newest; epoch += 1) {
      core.takeEvent(makeEvent({ sourceEpoch: `epoch-${epoch}`, sequence: 0, at: epoch * 10_000 }));
    }
    return core;
  }

  test("the 16 newest are known by name, whatever time their late events claim", () => {
    const core = manyEpochs();
    expect(child(core)?.supersededEpochs).toEqual(Array.from({ length: 16 }, (_, index) => `epoch-${index + 4}`));
    for (let epoch = 4; epoch < newest; epoch += 1) {
      const late = core.takeEvent(makeEvent({ sourceEpoch: `epoch-${epoch}`, sequence: 1, at: 900_000 }));
      expect(late).toMatchObject({ status: "out_of_order", diagnostics: [{ code: "epoch_superseded" }] });
    }
    expect(child(core)).toMatchObject({ epoch: "epoch-20", outOfOrder: 16 });
  });

  test("older ones are told by time alone", () => {
    const core = manyEpochs();
    const late = core.takeEvent(makeEvent({ sourceEpoch: "epoch-1", sequence: 3, state: "failed", at: 199_999 }));
    expect(late).toMatchObject({ status: "out_of_order", diagnostics: [{ code: "epoch_superseded" }] });
    expect(child(core)).toMatchObject({ state: "running", epoch: "epoch-20" });
  });

  test("one that comes back after being forgotten brings no event a second time (P2)", () => {
    const core = manyEpochs();
    const known = makeEvent({ sourceEpoch: "epoch-2", sequence: 0, at: 20_000 });
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 9, at: 900_000 }));
    expect(child(core)?.epoch).toBe("epoch-2");
    expect(identityQuestion(child(core), known)).toMatchObject({ by: "sequence", sequence: 0 });
    expect(core.takeEvent(known).status).toBe("deduplicated");
  });

  test("an epoch that was refused as too early keeps its sequences, should it come after all (P2)", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 0, state: "created", at: 10_000 }));
    const early = makeEvent({ sourceEpoch: "epoch-0", sequence: 5, at: 5_000 });
    expect(core.takeEvent(early).status).toBe("out_of_order");
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-0", sequence: 1, at: 20_000 }));
    expect(core.takeEvent(early)).toMatchObject({ status: "deduplicated" });
    expect(core.takeEvent({ ...early, activity: "forged" })).toMatchObject({ status: "conflict" });
  });
});

describe("a new epoch", () => {
  test("is audited (P21), keeps the state, and asks for capabilities anew (P16)", () => {
    const core = running();
    core.takeEvent(makeEvent({ sequence: 3, at: 3_000, capabilities: { heartbeat: "known", cancel: "known" } }));
    const result = core.takeEvent(
      makeEvent({ sourceEpoch: "epoch-2", sequence: 0, at: 9_000, capabilities: { history: "known" } }),
      START_MS + 9_500,
    );
    expect(result.audit).toEqual([
      {
        reason: "epoch_changed",
        source: "runner",
        childId: "child-1",
        from: "epoch-1",
        to: "epoch-2",
        at: START_MS + 9_500,
      },
    ]);
    expect(child(core)).toMatchObject({
      state: "running",
      stateAt: START_MS + 2_000,
      capabilities: { history: "known", heartbeat: "unknown", cancel: "unknown" },
    });
  });

  test("knowledge of a capability is never lost within an epoch", () => {
    const core = running();
    core.takeEvent(makeEvent({ sequence: 3, at: 3_000, capabilities: { heartbeat: "known" } }));
    core.takeEvent(makeEvent({ sequence: 4, at: 4_000, capabilities: { heartbeat: "unknown", cancel: "known" } }));
    expect(child(core)?.capabilities).toMatchObject({ heartbeat: "known", cancel: "known", history: "unknown" });
  });

  test.each([0, 1])("may begin at sequence %i without anything missing", (first) => {
    const core = running();
    const result = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: first, state: "running", at: 9_000 }));
    expect(result.status).toBe("applied");
    expect(child(core)).toMatchObject({ gaps: [], highestSequence: first });
  });

  test("that first shows a later sequence is missing what lies below", () => {
    const core = running();
    const result = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 2, state: "running", at: 9_000 }));
    expect(result).toMatchObject({ status: "provisional", diagnostics: [{ code: "sequence_gap" }] });
    expect(child(core)?.gaps).toEqual([[0, 1]]);
  });

  test("that began at 1 awaits no 0 once all the rest has arrived", () => {
    const core = running();
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 3, state: "waiting", at: 9_000 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 1, state: "running", at: 7_000 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 2, at: 8_000 }));
    expect(child(core)).toMatchObject({ state: "waiting", gaps: [] });
    expect(isProvisional(child(core) ?? expect.fail())).toBe(false);
  });

  test("still takes a first state from sequence 0, however late", () => {
    const core = running();
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 2, at: 9_000 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 1, at: 8_000 }));
    const first = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 0, state: "waiting", at: 7_000 }));
    expect(first.status).toBe("gap_filled");
    expect(child(core)).toMatchObject({ state: "waiting", gaps: [] });
  });

  test("makes open gaps of the old one a gap between epochs, until it states a state", () => {
    const core = running();
    core.takeEvent(makeEvent({ sequence: 5, at: 5_000 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 0, at: 9_000 }));
    expect(child(core)).toMatchObject({ gaps: [], epochGap: true });
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 1, state: "running", at: 9_500 }));
    expect(isProvisional(child(core) ?? expect.fail())).toBe(false);
  });

  test("passes a gap between epochs on, while none of them has stated a state", () => {
    const core = running();
    core.takeEvent(makeEvent({ sequence: 5, at: 5_000 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 0, at: 9_000 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-3", sequence: 0, at: 12_000 }));
    expect(child(core)).toMatchObject({ epochGap: true });
  });

  test("re-asserts a state with what it says beside it; the state stands since when it began", () => {
    const core = running();
    core.takeEvent(
      makeEvent({ sourceEpoch: "epoch-2", sequence: 0, state: "running", activity: "resuming", at: 9_000 }),
    );
    expect(child(core)).toMatchObject({ state: "running", stateAt: START_MS + 2_000, activity: "resuming" });
  });

  test("re-asserts only once: the same state again is no edge (P8)", () => {
    const core = running();
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 0, state: "running", at: 9_000 }));
    const again = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 1, state: "running", at: 9_500 }));
    expect(again).toMatchObject({ status: "rejected", diagnostics: [{ code: "illegal_transition" }] });
  });

  test("of a child without a state begins its states: the second one must follow from the first (P8)", () => {
    const core = new CoreRun();
    core.takeEvent(makeEvent({ sequence: 3, at: 0 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 1, state: "created", at: 5_000 }));
    expect(isProvisional(child(core) ?? expect.fail())).toBe(false);
    const jump = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 2, state: "running", at: 6_000 }));
    expect(jump).toMatchObject({ status: "rejected", diagnostics: [{ code: "illegal_transition" }] });
  });

  test("cannot be opened by an event that lies before the state it would follow", () => {
    const core = running();
    const late = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", state: "waiting", at: 1_500 }));
    expect(late).toMatchObject({ status: "out_of_order", audit: [] });
    expect(child(core)?.epoch).toBe("epoch-1");
  });
});

describe("a new epoch whose signs come before its first state", () => {
  test("does not lose that state: until one was stated, what is missing may be it", () => {
    const core = running();
    const early = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 1, at: 11_000 }));
    expect(early).toMatchObject({ status: "provisional", diagnostics: [{ code: "sequence_gap" }] });
    expect(child(core)).toMatchObject({ state: "running", gaps: [[0, 0]] });
    const late = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 0, state: "waiting", at: 10_000 }));
    expect(late.status).toBe("gap_filled");
    expect(child(core)).toMatchObject({ state: "waiting", gaps: [] });
  });

  test("awaits no 0 any more once a later one stated a state", () => {
    const core = running();
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 1, at: 11_000 }));
    core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 2, state: "waiting", at: 12_000 }));
    expect(child(core)).toMatchObject({ state: "waiting", gaps: [] });
  });

  test("is complete when it begins at 1 with its state", () => {
    const core = running();
    const first = core.takeEvent(makeEvent({ sourceEpoch: "epoch-2", sequence: 1, state: "waiting", at: 11_000 }));
    expect(first.status).toBe("applied");
    expect(child(core)).toMatchObject({ gaps: [] });
  });
});
