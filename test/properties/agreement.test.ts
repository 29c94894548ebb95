import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreRun, describeRecord, TEST_POLICY } from "../kit/core-run.ts";
import { arbitraryHistory, type HistoryStep } from "../kit/histories.ts";
import { PlainProjection } from "../kit/plain/plain-projection.ts";

/** `PROPERTY_RUNS` asks for a longer search. */
const RUNS = Number(process.env["PROPERTY_RUNS"] ?? 3_000);
/** Of a run, or of the search for a smaller counterexample. */
const TIME_LIMIT_MS = 60_000 + 10 * RUNS;

test(
  "the projection agrees with a plain second reading of the contract, step by step, on any history",
  () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        const core = new CoreRun();
        const plain = new PlainProjection(TEST_POLICY);
        for (const [index, step] of history.entries()) {
          const where = `step ${index + 1} of ${history.length}: ${JSON.stringify(step)}`;
          expect(core.take(step), where).toEqual(takePlainly(plain, step));
          expect(core.records().map(describeRecord), where).toEqual(plain.describe());
        }
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: TIME_LIMIT_MS, markInterruptAsFailure: true },
    );
  },
  2 * TIME_LIMIT_MS,
);

function takePlainly(plain: PlainProjection, step: HistoryStep): ReturnType<CoreRun["take"]> {
  switch (step.type) {
    case "event":
      return { ...plain.takeEvent({ event: step.event, receivedAt: step.at, backfill: step.backfill }), stale: [] };
    case "snapshot":
      return { ...plain.takeSnapshot(step.snapshot, step.at), stale: [] };
    case "tick":
      return { diagnostics: [], audit: [], stale: plain.tick(step.at).toSorted() };
    case "reconciliation":
      return { ...plain.reconcile(step.source, step.childId, step.outcome, step.at), stale: [] };
    case "resumed":
      plain.resume(step.at);
      return { status: "applied", diagnostics: [], audit: [], stale: [] };
  }
}
