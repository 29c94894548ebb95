import assert from "node:assert/strict";
import { gateIntake } from "../plugins/receiver-intake.ts";
import { SYSTEM_CLOCK } from "../runtime/clock.ts";
import type { Intake } from "../runtime/intake.ts";
import type { ReceiverContext } from "../runtime/receiver.ts";
import { type ComponentUnderTest, componentContract } from "./component-contract.ts";
import { type ContractRule, ruleOf, settlesByItself, step } from "./contract-rule.ts";
import { type RecordedIntake, recordIntake } from "./recorded-intake.ts";

export interface ReceiverUnderTest extends ComponentUnderTest {
  /**
   * Offers one event to the receiver, as its senders do: a request, a datagram, a line in a file. Resolves when it is
   * offered, or rejects when that cannot be done; it need not wait for what becomes of it.
   */
  send(): Promise<void>;
}

export interface ReceiverHarness {
  /** Makes a receiver that is not started. The context is for receivers of modules, the intake for built-in ones. */
  create(parts: { readonly intake: Intake; readonly context: ReceiverContext }): Promise<ReceiverUnderTest>;
  /** Makes one that cannot start. */
  createUnable?(parts: { readonly intake: Intake; readonly context: ReceiverContext }): Promise<ComponentUnderTest>;
}

type Recorded = ReceiverUnderTest & { readonly recorded: RecordedIntake };

/** The contract of a receiver, as tests; that of a component is part of it. */
export function receiverContract(harness: ReceiverHarness): readonly ContractRule[] {
  const create = async (): Promise<Recorded> => {
    const recorded = recordIntake();
    return { ...(await harness.create(partsOf(recorded))), recorded };
  };
  const { createUnable } = harness;
  const unable = createUnable && { createUnable: () => createUnable(partsOf(recordIntake())) };
  return [
    ...componentContract({ create, ...unable }),
    ruleOf("takes events once its start has resolved", create, async ({ component, send, recorded }) => {
      await step("start", component.start());
      await step("sending", send());
      await step("the hand-over", recorded.handedOver);
      await step("shutdown", component.shutdown());
      assert.equal(recorded.candidates.length, 1, "one event was sent, and one is to be handed over");
    }),
    ruleOf("passes on what it took before its shutdown resolves", create, async ({ component, send, recorded }) => {
      recorded.hold();
      await step("start", component.start());
      const sending = send();
      sending.catch(() => {});
      await step("the hand-over", recorded.handedOver);
      const shutdown = component.shutdown();
      assert.equal(await settlesByItself(shutdown), false, "shutdown resolved before the event was stored");
      recorded.release();
      await step("shutdown", shutdown);
      await step(
        "sending",
        sending.catch(() => {}),
      );
      assert.equal(recorded.candidates.length, 1, "the event was handed over again");
    }),
    ruleOf("passes on nothing after its shutdown", create, async ({ component, send, recorded }) => {
      await step("start", component.start());
      await step("sending", send());
      await step("the hand-over", recorded.handedOver);
      await step("shutdown", component.shutdown());
      const calls = recorded.calls();
      await step(
        "sending to a receiver that is shut down",
        send().catch(() => {}),
      );
      assert.equal(await settlesByItself(new Promise(() => {})), false);
      assert.equal(recorded.calls(), calls, "the receiver called the intake after its shutdown");
    }),
    ruleOf("shuts down while nothing can be stored", create, async ({ component, send, recorded }) => {
      recorded.refuse({ kind: "unavailable", retryable: true, reason: "the disk is full" });
      await step("start", component.start());
      const sending = send().catch(() => {});
      await step("the hand-over", recorded.handedOver);
      await step("shutdown", component.shutdown());
      await step("sending", sending);
    }),
  ];
}

function partsOf({ intake }: RecordedIntake): { readonly intake: Intake; readonly context: ReceiverContext } {
  const id = "module/under-test";
  const context: ReceiverContext = {
    id,
    clock: SYSTEM_CLOCK,
    log: { info: () => {}, error: () => {} },
    folder: process.cwd(),
    intake: gateIntake(intake, id).intake,
  };
  return { intake, context };
}
