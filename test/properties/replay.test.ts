import {
  childrenOf,
  createProjection,
  type FoldResult,
  fold,
  type Projection,
  type ProjectionInput,
  parseRecord,
  parseSnapshotEpoch,
  restoreChild,
  restoreSnapshotEpoch,
  revert,
  serializeProjection,
  serializeRecord,
  serializeSnapshotEpoch,
} from "@agent-lifecycle/collector/projection";
import { canonicalEvent, parseCanonicalEvent } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CoreRun } from "../kit/core-run.ts";
import { arbitraryHistory, type HistoryStep } from "../kit/histories.ts";

const RUNS = 600;

function live(history: readonly HistoryStep[]): CoreRun {
  const core = new CoreRun();
  for (const step of history) core.take(step);
  return core;
}

function textOf(projection: Projection): readonly string[] {
  return [...serializeProjection(projection)];
}

/** An input as it comes back from storage. */
function stored(input: ProjectionInput): ProjectionInput {
  if (input.type !== "event") return JSON.parse(JSON.stringify(input)) as ProjectionInput;
  return { ...input, event: parseCanonicalEvent(canonicalEvent(input.event)) };
}

describe("the stored inputs, folded again in their order", () => {
  test("give the live projection, byte for byte, and every result again", () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        const first = new CoreRun();
        const statuses: (string | undefined)[] = [];
        for (const step of history) {
          const before = first.inputs.length;
          const { status } = first.take(step);
          if (first.inputs.length > before && step.type !== "tick") statuses.push(status);
        }
        const replayed = createProjection();
        const results = first.inputs.map((input) => ({ input, result: fold(replayed, stored(input)) }));
        expect(textOf(replayed)).toEqual(first.serialized());
        expect(results.filter(({ input }) => input.type !== "stale").map(({ result }) => result.status)).toEqual(
          statuses,
        );
      }),
      { numRuns: RUNS },
    );
  });

  test("give it also when the replay starts at any checkpoint", () => {
    fc.assert(
      fc.property(arbitraryHistory(), fc.nat({ max: 100 }), (history, where) => {
        const core = live(history);
        const { inputs } = core;
        const split = where % (inputs.length + 1);
        const before = createProjection();
        for (const input of inputs.slice(0, split)) fold(before, input);
        const restored = restoredFrom(before);
        expect(textOf(restored)).toEqual(textOf(before));
        for (const input of inputs.slice(split)) fold(restored, input);
        expect(textOf(restored)).toEqual(core.serialized());
      }),
      { numRuns: RUNS },
    );
  });
});

function restoredFrom(projection: Projection): Projection {
  const restored = createProjection();
  for (const record of childrenOf(projection)) restoreChild(restored, parseRecord(serializeRecord(record)));
  for (const { source, snapshotEpoch } of projection.sources.values()) {
    if (snapshotEpoch === undefined) continue;
    restoreSnapshotEpoch(restored, source, parseSnapshotEpoch(serializeSnapshotEpoch(snapshotEpoch)));
  }
  return restored;
}

describe("revert", () => {
  test("undoes each fold exactly, back to the very beginning", () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        const { inputs } = live(history);
        const projection = createProjection();
        const stages: { readonly text: readonly string[]; readonly nextKey: number; readonly result: FoldResult }[] =
          [];
        for (const input of inputs) {
          const { nextKey } = projection;
          const text = textOf(projection);
          stages.push({ text, nextKey, result: fold(projection, input) });
        }
        for (const { text, nextKey, result } of stages.toReversed()) {
          revert(projection, result);
          expect(textOf(projection)).toEqual(text);
          expect(projection.nextKey).toBe(nextKey);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("leaves nothing behind: the same inputs folded afterwards end as if it had never been", () => {
    fc.assert(
      fc.property(arbitraryHistory(), fc.nat({ max: 100 }), (history, where) => {
        const core = live(history);
        const projection = createProjection();
        for (const [index, input] of core.inputs.entries()) {
          if (index === where % core.inputs.length) revert(projection, fold(projection, input));
          fold(projection, input);
        }
        expect(textOf(projection)).toEqual(core.serialized());
      }),
      { numRuns: RUNS },
    );
  });
});
