import type { Capabilities } from "./capabilities.ts";
import type { Details } from "./details.ts";
import type { Lineage } from "./event.ts";
import type { State } from "./state.ts";

/** One child in an authority's answer. Members that the authority did not state are absent, never guessed. */
export interface SnapshotEntry {
  readonly childId: string;
  readonly state: State;
  readonly sequence?: number;
  readonly activity?: string;
  readonly lineage?: Lineage;
  readonly capabilities?: Capabilities;
  readonly details?: Details;
}

/** An authority's statement of its children at one time (contract section 5), normalized. */
export interface LifecycleSnapshot {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly snapshotId: string;
  /** RFC 3339 UTC with milliseconds. */
  readonly observedAt: string;
  /** Only a complete view corrects and proves absence (A6, A7). */
  readonly complete: boolean;
  readonly coverage: "all" | readonly string[];
  readonly children: readonly SnapshotEntry[];
}
