import { type ChildRecord, isProvisional } from "@agent-lifecycle/collector/projection";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CoreRun } from "../kit/core-run.ts";
import { makeEvent } from "../kit/events.ts";
import { legalStream } from "../kit/legal-stream.ts";
import { START_MS } from "../kit/start-time.ts";

/** What P13 promises to be the same, and what follows from it. */
function essenceOf(record: ChildRecord | undefined): Readonly<Record<string, unknown>> | undefined {
  if (record === undefined) return undefined;
  const { state, stateAt, highestSequence, gaps, history, terminalEvidence, stale } = record;
  return {
    state,
    stateAt,
    highestSequence,
    gaps,
    provisional: isProvisional(record),
    history,
    terminalEvidence,
    stale,
    epoch: record.epoch,
  };
}

function deliver(events: readonly LifecycleEvent[]): Readonly<Record<string, unknown>> | undefined {
  const core = new CoreRun();
  for (const event of events) core.takeEvent(event, START_MS);
  const [record, ...others] = core.records();
  expect(others).toEqual([]);
  return essenceOf(record);
}

function* permutations<Value>(values: readonly Value[]): Generator<readonly Value[]> {
  if (values.length <= 1) yield values;
  for (const [index, value] of values.entries()) {
    for (const rest of permutations(values.toSpliced(index, 1))) yield [value, ...rest];
  }
}

const streams = fc.oneof(
  { arbitrary: legalStream({ maxLength: 5 }), weight: 2 },
  { arbitrary: legalStream({ maxLength: 5, external: true }), weight: 1 },
);

const longStreams = fc.oneof(
  { arbitrary: legalStream({ minLength: 12, maxLength: 60 }), weight: 2 },
  { arbitrary: legalStream({ minLength: 12, maxLength: 60, external: true }), weight: 1 },
);

describe("P13: a legal stream of one epoch ends in the same record", () => {
  test("in each of the 720 orders of a whole life", () => {
    const life = [
      makeEvent({ sequence: 1, state: "created", at: 1000 }),
      makeEvent({ sequence: 2, state: "starting", at: 2000 }),
      makeEvent({ sequence: 3, state: "running", at: 3000 }),
      makeEvent({ sequence: 4, kind: "activity", activity: "tests", at: 4000 }),
      makeEvent({ sequence: 5, state: "waiting", at: 5000 }),
      makeEvent({ sequence: 6, state: "failed", at: 6000 }),
    ];
    const inOrder = deliver(life);
    expect(inOrder).toMatchObject({ state: "failed", gaps: [], provisional: false, history: "complete" });
    for (const order of permutations(life)) {
      expect(deliver(order), order.map(({ sequence }) => sequence).join(" ")).toEqual(inOrder);
    }
  });

  test("in every order of any short stream", () => {
    fc.assert(
      fc.property(streams, (stream) => {
        const inOrder = deliver(stream);
        expect(inOrder).toMatchObject({ gaps: [], provisional: false });
        for (const order of permutations(stream)) expect(deliver(order)).toEqual(inOrder);
      }),
      { numRuns: 60 },
    );
  });

  test("in random orders of long streams, some events arriving more than once", () => {
    const shuffled = longStreams.chain((stream) =>
      fc.record({
        stream: fc.constant(stream),
        order: fc.shuffledSubarray([...stream], { minLength: stream.length }),
        again: fc.array(fc.nat({ max: 1000 }), { maxLength: 10 }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ stream, order, again }) => {
        const copies = again.flatMap((choice) => order[choice % order.length] ?? []);
        const expected = deliver(stream);
        expect(deliver([...order, ...copies])).toEqual(expected);
        expect(deliver([...copies, ...order])).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
