import assert from "node:assert/strict";
import { SYSTEM_CLOCK } from "../runtime/clock.ts";
import type { ExportBatch, Exporter, ExporterContext } from "../runtime/exporter.ts";
import { type ComponentUnderTest, componentContract } from "./component-contract.ts";
import { type ContractRule, ruleOf, step } from "./contract-rule.ts";

export interface ExporterUnderTest extends ComponentUnderTest {
  readonly component: Exporter;
  /** Ids of the inputs that the destination holds now, in the order in which they came. */
  delivered(): Promise<readonly number[]>;
}

export interface ExporterHarness {
  /** Makes an exporter that is not started. */
  create(context: ExporterContext): Promise<ExporterUnderTest>;
  /** Makes one that cannot start. */
  createUnable?(context: ExporterContext): Promise<ComponentUnderTest>;
  /** Inputs that leave something at the destination, at least two, with growing ids. */
  readonly inputs: ExportBatch["inputs"];
}

/** The contract of an exporter, as tests; that of a component is part of it. */
export function exporterContract({ create, createUnable, inputs }: ExporterHarness): readonly ContractRule[] {
  const [first] = inputs;
  assert.ok(first !== undefined && inputs.length > 1, "the harness is to bring at least two inputs");
  const ids = inputs.map(({ inputId }) => inputId);
  const createOne = (): Promise<ExporterUnderTest> => create(testContext());
  const unable = createUnable && { createUnable: () => createUnable(testContext()) };
  const deliver = async (exporter: Exporter, batch: ExportBatch["inputs"]): Promise<void> => {
    const outcome = await step(
      "export",
      exporter.export({ inputs: batch, missedInputs: 0 }, new AbortController().signal),
    );
    assert.deepEqual(outcome, { kind: "delivered" });
  };
  return [
    ...componentContract({ create: createOne, ...unable }),
    ruleOf("has delivered what it says it has delivered, in order", createOne, async ({ component, delivered }) => {
      await step("start", component.start());
      await deliver(component, [first]);
      assert.deepEqual(await delivered(), ids.slice(0, 1));
      await deliver(component, inputs.slice(1));
      assert.deepEqual(await delivered(), ids);
      await step("shutdown", component.shutdown());
      assert.deepEqual(await delivered(), ids, "shutdown changed what was delivered");
    }),
    ruleOf("takes a batch that it had before, as after a crash", createOne, async ({ component, delivered }) => {
      await step("start", component.start());
      await deliver(component, inputs);
      await deliver(component, inputs);
      assert.deepEqual([...new Set(await delivered())], ids);
      await step("shutdown", component.shutdown());
    }),
    ruleOf("settles soon when its signal fires", createOne, async ({ component }) => {
      await step("start", component.start());
      const batch = { inputs, missedInputs: 0 };
      const exporting = component.export(batch, AbortSignal.abort(new Error("the collector stops")));
      await step(
        "an export whose signal has fired",
        exporting.catch(() => {}),
      );
      await step("shutdown", component.shutdown());
    }),
  ];
}

function testContext(): ExporterContext {
  return {
    id: "module/under-test",
    clock: SYSTEM_CLOCK,
    log: { info: () => {}, error: () => {} },
    folder: process.cwd(),
    child: () => undefined,
  };
}
