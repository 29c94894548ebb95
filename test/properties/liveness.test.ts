import { type ChildRecord, type DueReconciliation, Liveness } from "@agent-lifecycle/collector/projection";
import { isTerminal } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CoreRun, TEST_POLICY } from "../kit/core-run.ts";
import { makeEvent } from "../kit/events.ts";
import { arbitraryHistory } from "../kit/histories.ts";

const { staleAfterMs } = TEST_POLICY;

/** The children that a look at every record finds silent for too long. */
function silentAt(records: readonly ChildRecord[], now: number): readonly ChildRecord[] {
  return records.filter(
    ({ state, stale, silentSince }) =>
      state !== undefined && !isTerminal(state) && stale === undefined && now - silentSince >= staleAfterMs,
  );
}

describe("liveness over any history, ticked at every step", () => {
  test("names exactly the children that a look at every record finds, and each silence once (S2)", () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        const core = new CoreRun();
        const named = new Set<string>();
        for (const step of history) {
          core.take(step);
          const expected = silentAt(core.records(), step.at);
          const { nextDeadline } = core.liveness;
          if (expected.length > 0) expect(nextDeadline).toBeLessThanOrEqual(step.at);
          const { stale } = core.take({ type: "tick", at: step.at });
          expect(stale).toEqual(expected.map(({ source, childId }) => JSON.stringify([source, childId])).toSorted());
          for (const { source, childId, silentSince } of expected) {
            const silence = JSON.stringify([source, childId, silentSince]);
            expect(named, "the same silence a second time").not.toContain(silence);
            named.add(silence);
          }
          expect(core.liveness.watched).toBe(
            core.records().filter(({ state, stale }) => state !== undefined && !isTerminal(state) && !stale).length,
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("names each request once, when its deadline has come and it is still open", () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        const core = new CoreRun();
        const answered = new Map<string, string>();
        for (const step of history) {
          core.take(step);
          core.take({ type: "tick", at: step.at });
          const expected = core
            .records()
            .flatMap((record) => openRequest(record))
            .filter(({ due, asked }) => due.deadline <= step.at && answered.get(nameOf(due)) !== asked);
          const due = core.liveness.dueReconciliations(step.at);
          expect(sorted(due)).toEqual(sorted(expected.map((request) => request.due)));
          for (const request of expected) answered.set(nameOf(request.due), request.asked);
          expect(core.liveness.dueReconciliations(step.at)).toEqual([]);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

function openRequest(record: ChildRecord): readonly { readonly due: DueReconciliation; readonly asked: string }[] {
  const { source, childId, reconciliation } = record;
  if (reconciliation === undefined) return [];
  return [{ due: { source, childId, deadline: reconciliation.deadline }, asked: JSON.stringify(reconciliation) }];
}

function nameOf({ source, childId }: DueReconciliation): string {
  return JSON.stringify([source, childId]);
}

function sorted(due: readonly DueReconciliation[]): readonly string[] {
  return due.map((request) => JSON.stringify([request.source, request.childId, request.deadline])).toSorted();
}

type Command =
  | { readonly do: "speak" | "end" | "mark stale"; readonly key: number; readonly ms: number }
  | { readonly do: "look"; readonly ms: number };

const commands: fc.Arbitrary<readonly Command[]> = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({
        do: fc.constantFrom(
          "speak" as const,
          "speak" as const,
          "speak" as const,
          "end" as const,
          "mark stale" as const,
        ),
        key: fc.nat({ max: 15 }),
        ms: fc.nat({ max: 400 }),
      }),
      weight: 8,
    },
    { arbitrary: fc.record({ do: fc.constant("look" as const), ms: fc.nat({ max: 100 }) }), weight: 2 },
  ),
  { maxLength: 200, size: "max" },
);

test("the order of silences holds for children that speak, end and go stale in any order of time", () => {
  const blank = blankRecord();
  fc.assert(
    fc.property(commands, (list) => {
      const liveness = new Liveness(() => ({ staleAfterMs: 100, reconcileDeadlineMs: 50 }));
      const model = new Map<number, number>();
      const since = new Map<number, number>();
      let now = 0;
      for (const command of list) {
        if (command.do === "look") {
          now += command.ms;
          const expected = [...model].filter(([, silentSince]) => now - silentSince >= 100).map(([key]) => key);
          expect(
            liveness
              .expire(now)
              .map(({ childId }) => Number(childId))
              .toSorted(),
          ).toEqual(expected.toSorted());
          for (const key of expected) model.delete(key);
          continue;
        }
        const { key } = command;
        const isLive = command.do === "speak";
        // A child's own silence never starts earlier than it did; old evidence of another child may be far behind.
        const silentSince = Math.max(since.get(key) ?? 0, isLive ? now - 300 + command.ms : 0);
        since.set(key, silentSince);
        if (isLive) model.set(key, silentSince);
        else model.delete(key);
        const after: ChildRecord = {
          ...blank,
          key,
          childId: String(key),
          silentSince,
          state: command.do === "end" ? "completed" : "running",
          stale: command.do === "mark stale" ? { since: now, reason: "deadline" } : undefined,
        };
        liveness.observe({ before: undefined, after });
        expect(liveness.watched).toBe(model.size);
      }
    }),
    { numRuns: 1_000 },
  );
});

function blankRecord(): ChildRecord {
  const core = new CoreRun();
  core.takeEvent(makeEvent({ state: "created", sequence: 0 }));
  const [record] = core.records();
  if (record === undefined) throw new Error("the event made no record");
  return record;
}
