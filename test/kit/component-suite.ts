import {
  type ComponentHarness,
  type ContractRule,
  componentContract,
  type ExporterHarness,
  exporterContract,
  type ReceiverHarness,
  receiverContract,
  type SnapshotSourceHarness,
  snapshotSourceContract,
} from "@agent-lifecycle/collector/testing";
import { describe, test } from "vitest";

/** Holds a component to the contract of all components. */
export function describeComponent(name: string, harness: ComponentHarness): void {
  describeRules(name, componentContract(harness));
}

/** Holds a receiver to its contract. */
export function describeReceiver(name: string, harness: ReceiverHarness): void {
  describeRules(name, receiverContract(harness));
}

/** Holds an exporter to its contract. */
export function describeExporter(name: string, harness: ExporterHarness): void {
  describeRules(name, exporterContract(harness));
}

/** Holds a snapshot source to its contract. */
export function describeSnapshotSource(name: string, harness: SnapshotSourceHarness): void {
  describeRules(name, snapshotSourceContract(harness));
}

function describeRules(name: string, rules: readonly ContractRule[]): void {
  describe(name, () => {
    for (const rule of rules) test(rule.name, rule.run);
  });
}
