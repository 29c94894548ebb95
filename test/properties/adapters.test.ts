import { isTerminal } from "@agent-lifecycle/proto";
import { ADAPTERS, adapterFor, emptyAdapterState } from "@agent-lifecycle/sdk/adapters";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ADAPTER_CORPORA, type AdapterCorpus } from "../kit/adapter-corpus.ts";
import { expectAdapterLaws } from "../kit/adapter-laws.ts";
import { AdapterRun } from "../kit/adapter-run.ts";

function runOf(format: string, inputs: readonly unknown[], restartAfter?: number): AdapterRun {
  const adapter = adapterFor(format);
  if (adapter === undefined) throw new Error(`no adapter for ${format}`);
  const run = new AdapterRun(adapter);
  for (const [at, input] of inputs.entries()) {
    run.at(at, input);
    if (at === restartAfter) run.restarted();
  }
  return run;
}

/** Any order, any repetition, and anything that JSON can hold in between. */
function arbitraryInputs({ goingOn, ends }: AdapterCorpus): fc.Arbitrary<unknown[]> {
  const known = fc.constantFrom(...goingOn, ...ends);
  return fc.array(fc.oneof({ weight: 8, arbitrary: known }, { weight: 1, arbitrary: fc.jsonValue() }), {
    maxLength: 40,
  });
}

test("every adapter has a corpus", () => {
  expect(ADAPTER_CORPORA.map(({ format }) => format).toSorted()).toEqual(
    ADAPTERS.map(({ format }) => format).toSorted(),
  );
});

describe.each(ADAPTER_CORPORA.map((corpus) => [corpus.format, corpus] as const))("%s", (format, corpus) => {
  test("keeps the laws in any order, with repetitions and garbage", () => {
    fc.assert(
      fc.property(arbitraryInputs(corpus), (inputs) => {
        expectAdapterLaws(runOf(format, inputs).end().events);
      }),
    );
  });

  test("ends nobody without an input that says so; the end of a stream is none", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...corpus.goingOn), fc.jsonValue()), { maxLength: 40 }),
        (inputs) => {
          const { events } = runOf(format, inputs).end();
          expect(events.filter(({ state }) => isTerminal(state))).toEqual([]);
        },
      ),
    );
  });

  test("says the same again after a restart, wherever it comes", () => {
    fc.assert(
      fc.property(arbitraryInputs(corpus), fc.nat(40), (inputs, restartAfter) => {
        expect(runOf(format, inputs, restartAfter).events).toEqual(runOf(format, inputs).events);
      }),
    );
  });
});

test("memory is bounded, whatever is spoken of", () => {
  const adapter = adapterFor("claude-code-hooks") ?? expect.fail();
  const said = (hook_event_name: string, agent_id: string): object => ({ hook_event_name, session_id: "s", agent_id });
  let state = emptyAdapterState("watched", "run");
  for (let index = 0; index < 1_500; index += 1) {
    for (const value of [
      said("PreToolUse", `x${index}`),
      said("SubagentStart", `a${index}`),
      said("SubagentStop", `a${index}`),
    ]) {
      state = adapter.map(state, { value, observedAtMs: index }).state;
    }
  }
  expect(state.live.size).toBe(1);
  expect(state.ended.size).toBe(1_024);
  expect(state.quarantined.size).toBe(64);
});
