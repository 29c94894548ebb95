// The contracts of components as tests, for those who write their own. They need no test runner and bring none.
export { type ComponentHarness, type ComponentUnderTest, componentContract } from "./testing/component-contract.ts";
export type { ContractRule } from "./testing/contract-rule.ts";
export { type ExporterHarness, type ExporterUnderTest, exporterContract } from "./testing/exporter-contract.ts";
export { expectNothingLeftOpen } from "./testing/open-resources.ts";
export { type ReceiverHarness, type ReceiverUnderTest, receiverContract } from "./testing/receiver-contract.ts";
export {
  type SnapshotSourceHarness,
  type SnapshotSourceUnderTest,
  snapshotSourceContract,
} from "./testing/snapshot-source-contract.ts";
