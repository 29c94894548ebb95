import type { ChildRecord } from "../core/index.ts";
import type { StoredAudit, StoredInput } from "../store/store.ts";

/**
 * What is stored of one child, for exporters that must know how a child stood at an earlier input than the newest: they
 * may be behind, and what they send again must be what they sent before.
 */
export interface ChildHistory {
  /** The child as the inputs that retention removed left it; `undefined` when none spoke of it. */
  base(source: string, childId: string): ChildRecord | undefined;
  /** Inputs about the child above `afterInputId`, oldest first. Snapshots are not among them. */
  inputs(source: string, childId: string, afterInputId: number, limit: number): readonly StoredInput[];
  /** Its audit entries above `afterInputId`, oldest first. */
  audit(source: string, childId: string, afterInputId: number, limit: number): readonly StoredAudit[];
  /** One stored input; `undefined` when it is not there. */
  input(inputId: number): StoredInput | undefined;
}
