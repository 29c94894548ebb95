import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreRun } from "../kit/core-run.ts";
import { arbitraryHistory } from "../kit/histories.ts";

test("P2: whatever was received once changes nothing when it comes again, at any later time", () => {
  fc.assert(
    fc.property(arbitraryHistory(), fc.nat({ max: 100 }), (history, when) => {
      const core = new CoreRun();
      const claimed = [];
      for (const [index, step] of history.entries()) {
        const { status } = core.take(step);
        if (step.type === "event" && status !== "conflict" && status !== "deduplicated") claimed.push(step);
        if (index !== when % history.length && index !== history.length - 1) continue;
        const before = core.serialized();
        for (const known of claimed) expect(core.take(known).status, JSON.stringify(known)).toBe("deduplicated");
        expect(core.serialized()).toEqual(before);
      }
    }),
    { numRuns: 800 },
  );
});

test("P3: the same identity with other content is a conflict, is counted, and changes nothing else", () => {
  fc.assert(
    fc.property(arbitraryHistory(), (history) => {
      const core = new CoreRun();
      for (const step of history) {
        const { status } = core.take(step);
        if (step.type !== "event" || status === "conflict" || status === "deduplicated") continue;
        const { event } = step;
        const before = core.child(event.source, event.childId);
        const forged = core.takeEvent({ ...event, activity: `${event.activity ?? ""} forged` }, step.at);
        expect(forged).toMatchObject({ status: "conflict", diagnostics: [{ code: "identity_conflict" }] });
        expect(core.child(event.source, event.childId)).toEqual({ ...before, conflicts: (before?.conflicts ?? 0) + 1 });
      }
    }),
    { numRuns: 500 },
  );
});
