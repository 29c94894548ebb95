import { countChange, createSummary, isProvisional, type Summary } from "@agent-lifecycle/collector/projection";
import { isTerminal, STATES, TERMINAL_STATES } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreRun } from "../kit/core-run.ts";
import { arbitraryHistory } from "../kit/histories.ts";

class CountingRun extends CoreRun {
  readonly summary: Summary = createSummary();

  override fold(input: Parameters<CoreRun["fold"]>[0]): ReturnType<CoreRun["fold"]> {
    const result = super.fold(input);
    for (const change of result.changes) countChange(this.summary, change);
    return result;
  }
}

test("the summary kept up change by change is the one counted anew, and started = live + ended", () => {
  fc.assert(
    fc.property(arbitraryHistory(), (history) => {
      const core = new CountingRun();
      for (const step of history) {
        core.take(step);
        const { summary } = core;
        const rows = core.records().filter(({ state }) => state !== undefined);
        const ended = TERMINAL_STATES.map((state) => summary.byState[state]).reduce((sum, count) => sum + count, 0);
        expect(summary.started).toBe(summary.live + ended);
        expect(summary).toEqual({
          started: rows.length,
          live: rows.filter(({ state }) => !isTerminal(state)).length,
          byState: Object.fromEntries(STATES.map((state) => [state, rows.filter((row) => row.state === state).length])),
          stale: rows.filter(({ stale }) => stale !== undefined).length,
          provisional: rows.filter(isProvisional).length,
          stateUnknown: core.records().length - rows.length,
        });
      }
    }),
    { numRuns: 500 },
  );
});
