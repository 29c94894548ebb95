import type { State } from "@agent-lifecycle/proto";
import type { AgentNode } from "./lineage-tree.ts";
import type { UsageRollup } from "./usage-rollup.ts";

/** One agent of a tree, as the API lists it. */
export interface AgentView extends Omit<AgentNode, "children"> {
  /** 0 at the top. Agents follow the one they hang from. */
  readonly depth: number;
}

/** Everything that goes back to one root. */
export interface TreeView {
  readonly rootChildId: string;
  /** Id of the newest input that the answer takes in. */
  readonly position: number;
  readonly members: number;
  /** Members that have not ended: the tree is live until this is 0. */
  readonly live: number;
  readonly byState: Readonly<Record<State, number>>;
  readonly usage: UsageRollup;
  readonly agents: readonly AgentView[];
  /** There are more members than are listed; all sums are of those listed. */
  readonly isCut: boolean;
}
