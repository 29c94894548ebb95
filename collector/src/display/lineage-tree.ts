import type { ChildView } from "@agent-lifecycle/proto";
import { childKey, hasEnded, parentKey } from "./child-key.ts";
import { addUsage, NO_USAGE, type UsageRollup, usageOf } from "./usage-rollup.ts";

/** One agent: its attempts, and the agents that any of them delegated to. */
export interface AgentNode {
  /** In the order of their attempts; the last is the newest. Never empty. */
  readonly attempts: readonly ChildView[];
  readonly children: readonly AgentNode[];
  /** Its lineage names a parent that is not among the children given. */
  readonly isParentMissing: boolean;
  /** Children below it, attempts counted one by one. */
  readonly descendants: number;
  readonly liveDescendants: number;
  /** Of its attempts and everything below them. */
  readonly usage: UsageRollup;
}

/**
 * The trees that lineages describe. A child stands below its parent where the parent is given too, else at the top, so that
 * each child is in the result exactly once, also where lineages form a circle. Attempts are grouped under one agent only
 * where the record leaves no doubt: same source, root and parent, same name, and each attempt number once.
 */
export function lineageTrees(children: readonly ChildView[]): readonly AgentNode[] {
  const present = new Map(children.map((child) => [childKey(child), child]));
  const below = new Map<string, ChildView[]>();
  const tops: ChildView[] = [];
  for (const child of children) {
    const parent = parentKey(child);
    if (parent === undefined || !present.has(parent) || isInCircle(child, present)) tops.push(child);
    else below.set(parent, [...(below.get(parent) ?? []), child]);
  }
  const nodesOf = (siblings: readonly ChildView[]): readonly AgentNode[] =>
    agentsAmong(siblings).map((attempts) => {
      const delegated = nodesOf(attempts.flatMap((attempt) => below.get(childKey(attempt)) ?? []));
      const [first] = attempts;
      const parent = first === undefined ? undefined : parentKey(first);
      return agentNode(attempts, delegated, parent !== undefined && !present.has(parent));
    });
  return nodesOf(tops);
}

function agentNode(
  attempts: readonly ChildView[],
  children: readonly AgentNode[],
  isParentMissing: boolean,
): AgentNode {
  let usage = attempts.map(usageOf).reduce(addUsage, NO_USAGE);
  let descendants = 0;
  let liveDescendants = 0;
  for (const child of children) {
    usage = addUsage(usage, child.usage);
    descendants += child.attempts.length + child.descendants;
    liveDescendants += child.attempts.filter((attempt) => !hasEnded(attempt)).length + child.liveDescendants;
  }
  return { attempts, children, isParentMissing, descendants, liveDescendants, usage };
}

/** Siblings as agents, oldest first. */
function agentsAmong(siblings: readonly ChildView[]): readonly (readonly ChildView[])[] {
  const families = new Map<string, ChildView[]>();
  for (const child of siblings) {
    const { rootChildId, parentChildId = null } = child.lineage;
    const family = JSON.stringify([child.source, rootChildId, parentChildId, child.facts.name ?? null]);
    families.set(family, [...(families.get(family) ?? []), child]);
  }
  return [...families.values()]
    .flatMap((family) => {
      const numbers = new Set(family.map(({ lineage }) => lineage.attempt));
      const isOneAgent = family.length > 1 && numbers.size === family.length;
      if (!isOneAgent) return family.map((child) => [child]);
      return [family.toSorted((one, other) => one.lineage.attempt - other.lineage.attempt)];
    })
    .toSorted((one, other) => compareFirst(one[0], other[0]));
}

function compareFirst(one: ChildView | undefined, other: ChildView | undefined): number {
  if (one === undefined || other === undefined) return 0;
  if (one.firstObservedAt !== other.firstObservedAt) return one.firstObservedAt < other.firstObservedAt ? -1 : 1;
  return one.childId < other.childId ? -1 : 1;
}

/** Whether its line of parents comes back to it: then it hangs from nobody. */
function isInCircle(child: ChildView, present: ReadonlyMap<string, ChildView>): boolean {
  const start = childKey(child);
  const seen = new Set<string>([start]);
  for (let at: ChildView | undefined = child; at !== undefined; ) {
    const parent = parentKey(at);
    if (parent === undefined) return false;
    if (parent === start) return true;
    if (seen.has(parent)) return false;
    seen.add(parent);
    at = present.get(parent);
  }
  return false;
}

/** An agent of a tree in a flat list, parents before their children. */
export interface FlatAgent {
  readonly node: AgentNode;
  readonly depth: number;
}

/** @param isOpen whether the agents below this one are listed */
export function flattenTrees(
  trees: readonly AgentNode[],
  isOpen: (node: AgentNode) => boolean = () => true,
): readonly FlatAgent[] {
  const flat: FlatAgent[] = [];
  const stack = trees.map((node) => ({ node, depth: 0 })).toReversed();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, depth } = next;
    flat.push(next);
    if (!isOpen(node)) continue;
    for (const child of node.children.toReversed()) stack.push({ node: child, depth: depth + 1 });
  }
  return flat;
}
