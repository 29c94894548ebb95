import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreRun, describeRecord } from "../kit/core-run.ts";
import { arbitraryHistory, type HistoryStep } from "../kit/histories.ts";

/** What of a step concerns one child; ticks and resumptions concern all. */
function shareOf(step: HistoryStep, source: string, childId: string): readonly HistoryStep[] {
  switch (step.type) {
    case "event":
      return step.event.source === source && step.event.childId === childId ? [step] : [];
    case "reconciliation":
      return step.source === source && step.childId === childId ? [step] : [];
    case "snapshot": {
      const children = step.snapshot.children.filter((entry) => entry.childId === childId);
      return step.snapshot.source === source ? [{ ...step, snapshot: { ...step.snapshot, children } }] : [];
    }
    case "tick":
    case "resumed":
      return [step];
  }
}

test("P18: children that share a projection end as each would alone", () => {
  fc.assert(
    fc.property(arbitraryHistory(), (history) => {
      const together = new CoreRun();
      for (const step of history) together.take(step);
      for (const record of together.records()) {
        const alone = new CoreRun();
        for (const step of history) for (const share of shareOf(step, record.source, record.childId)) alone.take(share);
        expect(alone.records().map(describeRecord)).toEqual([describeRecord(record)]);
      }
    }),
    { numRuns: 1_000 },
  );
});
