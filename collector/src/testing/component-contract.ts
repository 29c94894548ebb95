import assert from "node:assert/strict";
import type { Component } from "../runtime/component.ts";
import { type ContractRule, ruleOf, step } from "./contract-rule.ts";

export interface ComponentUnderTest {
  readonly component: Component;
  /** Puts away what the test itself has made: folders, servers. */
  dispose?(): Promise<void>;
}

export interface ComponentHarness {
  /** Makes a component that is not started. Called anew for every rule. */
  create(): Promise<ComponentUnderTest>;
  /** Makes one that cannot start: its port is taken, its folder is none. */
  createUnable?(): Promise<ComponentUnderTest>;
}

/** The contract of `Component`, as tests: what every part of the collector keeps, whatever it does. */
export function componentContract({ create, createUnable }: ComponentHarness): readonly ContractRule[] {
  const rules = [
    ruleOf("starts, and leaves nothing open when it is shut down", create, async ({ component }) => {
      await step("start", component.start());
      await step("shutdown", component.shutdown());
    }),
    ruleOf("is shut down twice, also at one time", create, async ({ component }) => {
      await step("start", component.start());
      await step("two shutdowns at one time", Promise.all([component.shutdown(), component.shutdown()]));
      await step("a later shutdown", component.shutdown());
    }),
    ruleOf("is shut down without having been started", create, async ({ component }) => {
      await step("shutdown", component.shutdown());
      await step("a later shutdown", component.shutdown());
    }),
    ruleOf("is shut down while it starts", create, async ({ component }) => {
      const starting = component.start();
      // It may say that it did not come to start; it may not stay in between.
      const started = starting.catch(() => {});
      await step("shutdown", component.shutdown());
      await step("the start that was overtaken", started);
    }),
  ];
  if (createUnable === undefined) return rules;
  return [
    ...rules,
    ruleOf("rejects its start when it cannot work, and is shut down all the same", createUnable, async (subject) => {
      await assert.rejects(step("start", subject.component.start()), Error);
      await step("shutdown", subject.component.shutdown());
    }),
  ];
}
