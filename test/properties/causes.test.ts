import type { ChildChange, ProjectionInput } from "@agent-lifecycle/collector/projection";
import { isTerminal } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CoreRun } from "../kit/core-run.ts";
import { arbitraryHistory, type HistoryStep } from "../kit/histories.ts";

const RUNS = 700;

/** Every change of every child in a history, with the input that made it. */
function changesIn(history: readonly HistoryStep[]): readonly (ChildChange & { readonly input: ProjectionInput })[] {
  const changes: (ChildChange & { readonly input: ProjectionInput })[] = [];
  class RecordingRun extends CoreRun {
    override fold(input: ProjectionInput): ReturnType<CoreRun["fold"]> {
      const result = super.fold(input);
      changes.push(...result.changes.map((change) => ({ ...change, input })));
      return result;
    }
  }
  const core = new RecordingRun();
  for (const step of history) core.take(step);
  return changes;
}

function forEveryChange(check: (change: ChildChange & { readonly input: ProjectionInput }) => void): void {
  fc.assert(
    fc.property(arbitraryHistory(), (history) => {
      for (const change of changesIn(history)) check(change);
    }),
    { numRuns: RUNS },
  );
}

/** The state that an input itself claims for a child, if it may claim any. */
function claimOf(input: ProjectionInput, childId: string): string | undefined {
  switch (input.type) {
    case "event":
      return input.event.state;
    case "snapshot":
      return input.snapshot.complete
        ? input.snapshot.children.find((entry) => entry.childId === childId)?.state
        : undefined;
    case "reconciliation":
      return input.outcome === "failed" ? "lost" : undefined;
    case "stale":
    case "resumed":
      return undefined;
  }
}

describe("in any history", () => {
  test("a state is only ever what an event, a complete snapshot or a failed reconciliation said it is", () => {
    forEveryChange(({ before, after, input }) => {
      if (before?.state === after.state && before?.stateAt === after.stateAt) return;
      expect(after.state).toBe(claimOf(input, after.childId));
    });
  });

  test("a terminal state never changes, whatever is claimed afterwards (P7)", () => {
    forEveryChange(({ before, after }) => {
      if (before === undefined || !isTerminal(before.state)) return;
      const { state, stateAt, terminalEvidence, activity, lastEvidenceAt, facts } = before;
      expect(after).toMatchObject({ state, stateAt, terminalEvidence, lastEvidenceAt });
      expect(after.activity).toBe(activity);
      expect(after.facts).toEqual(facts);
    });
  });

  test("the collector itself says lost only for an open request whose deadline has come (S4)", () => {
    forEveryChange(({ before, after, input }) => {
      if (after.terminalEvidence !== "failed_reconciliation" || before?.terminalEvidence !== undefined) return;
      expect(input.type).toBe("reconciliation");
      expect(before?.reconciliation).toBeDefined();
      if (input.type !== "reconciliation" || before?.reconciliation === undefined) return;
      expect(input.at).toBeGreaterThanOrEqual(before.reconciliation.deadline);
      expect(before.stale).toBeDefined();
    });
  });

  test("a snapshot that omits a child ends nothing and moves nothing (A6)", () => {
    forEveryChange(({ before, after, input }) => {
      if (input.type !== "snapshot" || claimOf(input, after.childId) !== undefined) return;
      expect(after.state).toBe(before?.state);
      expect(after.corrections).toBe(before?.corrections);
      expect(after.activity === before?.activity || !input.snapshot.complete).toBe(true);
    });
  });

  test("times of a child never run backwards, and a mark of stale never stands on a child that ended (S1, P20)", () => {
    forEveryChange(({ before, after }) => {
      expect(after.lastEvidenceAt).toBeGreaterThanOrEqual(before?.lastEvidenceAt ?? after.lastEvidenceAt);
      expect(after.lastProgressAt).toBeGreaterThanOrEqual(before?.lastProgressAt ?? after.lastProgressAt);
      expect(after.silentSince).toBeGreaterThanOrEqual(before?.silentSince ?? after.silentSince);
      expect(after.silentSince).toBeGreaterThanOrEqual(after.lastEvidenceAt);
      expect(after.firstObservedAt).toBeLessThanOrEqual(before?.firstObservedAt ?? after.firstObservedAt);
      if (isTerminal(after.state)) expect([after.stale, after.reconciliation]).toEqual([undefined, undefined]);
      if (after.reconciliation !== undefined) expect(after.stale).toBeDefined();
    });
  });

  test("gaps are ascending, apart, below the highest sequence, and no more than 64 (P11)", () => {
    forEveryChange(({ after: { gaps, highestSequence } }) => {
      const isSound = gaps.every(([from, to], index) => from <= to && from > (gaps[index - 1]?.[1] ?? -2) + 1);
      expect(isSound && gaps.length <= 64, JSON.stringify(gaps)).toBe(true);
      expect(gaps.at(-1)?.[1] ?? -1).toBeLessThan(highestSequence ?? 0);
    });
  });

  test("events without a state, ticks and verdicts give no child a state (P12)", () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        const core = new CoreRun();
        for (const step of history) {
          if (step.type === "event" && step.event.state !== undefined) continue;
          if (step.type === "snapshot" && step.snapshot.complete) continue;
          core.take(step);
        }
        expect(core.records().filter(({ state }) => state !== undefined)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
