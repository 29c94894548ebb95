import assert from "node:assert/strict";
import { type LifecycleSnapshot, normalizeSnapshot } from "@agent-lifecycle/proto";
import { SYSTEM_CLOCK } from "../runtime/clock.ts";
import type { SnapshotSource, SnapshotSourceContext } from "../runtime/snapshot-source.ts";
import { type ComponentUnderTest, componentContract } from "./component-contract.ts";
import { type ContractRule, ruleOf, step } from "./contract-rule.ts";

export interface SnapshotSourceUnderTest extends ComponentUnderTest {
  readonly component: SnapshotSource;
  /** From now on the authority knows exactly these children, all of them running. */
  setChildren(childIds: readonly string[]): Promise<void>;
  /** From now on the authority cannot be reached. */
  breakDown(): Promise<void>;
}

export interface SnapshotSourceHarness {
  /** Makes a snapshot source that is not started, for the source that the context names. Its authority knows no children. */
  create(context: SnapshotSourceContext): Promise<SnapshotSourceUnderTest>;
  /** Makes one that cannot start. */
  createUnable?(context: SnapshotSourceContext): Promise<ComponentUnderTest>;
}

const SOURCE = "contract";

/** The contract of a snapshot source, as tests; that of a component is part of it. */
export function snapshotSourceContract({ create, createUnable }: SnapshotSourceHarness): readonly ContractRule[] {
  const createOne = (): Promise<SnapshotSourceUnderTest> => create(testContext());
  const unable = createUnable && { createUnable: () => createUnable(testContext()) };
  return [
    ...componentContract({ create: createOne, ...unable }),
    ruleOf("answers for its source with what its authority knows", createOne, async ({ component, setChildren }) => {
      assert.equal(component.source, SOURCE, "the source must be that of the context");
      await step("start", component.start());
      assert.deepEqual(listedIn(await ask(component)), []);
      await setChildren(["a", "b"]);
      assert.deepEqual(listedIn(await ask(component)), ["a", "b"]);
      await setChildren(["b"]);
      assert.deepEqual(listedIn(await ask(component)), ["b"]);
      await step("shutdown", component.shutdown());
    }),
    ruleOf(
      "makes a new statement, or repeats the last one as it was",
      createOne,
      async ({ component, setChildren }) => {
        await step("start", component.start());
        await setChildren(["a"]);
        const first = await ask(component);
        const second = await ask(component);
        if (second.snapshotId === first.snapshotId) {
          assert.deepEqual(second, first, "under one snapshotId there can be one statement");
        } else {
          assert.ok(second.observedAt >= first.observedAt, "a later statement cannot have been observed earlier");
        }
        await step("shutdown", component.shutdown());
      },
    ),
    ruleOf("makes a new statement when something has changed", createOne, async ({ component, setChildren }) => {
      await step("start", component.start());
      await setChildren(["a"]);
      const before = await ask(component);
      await setChildren([]);
      assert.notEqual((await ask(component)).snapshotId, before.snapshotId, "the change would go unheard");
      await step("shutdown", component.shutdown());
    }),
    ruleOf("rejects when its authority cannot be reached", createOne, async ({ component, breakDown }) => {
      await step("start", component.start());
      await breakDown();
      await assert.rejects(step("a question to nobody", component.fetch(new AbortController().signal)), Error);
      await step("shutdown", component.shutdown());
    }),
    ruleOf("settles soon when its signal fires", createOne, async ({ component }) => {
      await step("start", component.start());
      const signal = AbortSignal.abort(new Error("the answer is of no use any more"));
      const settled = component.fetch(signal).then(
        () => {},
        () => {},
      );
      await step("a question whose signal has fired", settled);
      await step("shutdown", component.shutdown());
    }),
    ruleOf("asks nobody after its shutdown", createOne, async ({ component }) => {
      await step("start", component.start());
      await step("shutdown", component.shutdown());
      await assert.rejects(step("a question after the shutdown", component.fetch(new AbortController().signal)), Error);
    }),
  ];
}

async function ask(component: SnapshotSource): Promise<LifecycleSnapshot> {
  const answer = await step("fetch", component.fetch(new AbortController().signal));
  // As it reaches the door: a plain value.
  const normalized = normalizeSnapshot(JSON.parse(JSON.stringify(answer)));
  if (!normalized.ok) {
    const { path, text } = normalized.diagnostic;
    return assert.fail(`the answer is no snapshot: ${path ?? ""} ${text ?? ""}`);
  }
  assert.equal(normalized.snapshot.source, SOURCE, "the answer is about another source");
  return normalized.snapshot;
}

function listedIn({ children }: LifecycleSnapshot): readonly string[] {
  return children.map(({ childId }) => childId).toSorted();
}

function testContext(): SnapshotSourceContext {
  return {
    id: "module/under-test",
    clock: SYSTEM_CLOCK,
    log: { info: () => {}, error: () => {} },
    folder: process.cwd(),
    source: SOURCE,
  };
}
