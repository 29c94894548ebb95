import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { childKey, hasEnded } from "../../src/display/child-key.ts";
import { type AgentNode, flattenTrees, lineageTrees } from "../../src/display/lineage-tree.ts";
import type { UsageRollup } from "../../src/display/usage-rollup.ts";
import { isLookedFor } from "../model/now-groups.ts";
import { useLook, useModel } from "../model/use-board.ts";
import { ChildCells } from "../parts/child-row.tsx";
import { rowHeight, useNarrow } from "../parts/use-narrow.ts";
import { type GridItem, VirtualGrid } from "../parts/virtual-grid.tsx";

/** With more children than these, trees are put together again at most this often. Milliseconds. */
const MANY = 500;
const REST_MS = 250;

/** Who delegated to whom. A parent that ended says how many still live below it (P18). */
export function TreeView(): JSX.Element {
  const model = useModel();
  const { look, go } = useLook();
  const isNarrow = useNarrow();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const kept = useRef<{ at: number; look: unknown; trees: readonly AgentNode[] }>({
    at: 0,
    look: undefined,
    trees: [],
  });
  const { now } = model;
  const isRested = model.rows.length < MANY || performance.now() - kept.current.at > REST_MS;
  if (isRested || kept.current.look !== look) {
    // A tree with one member that is looked for is shown whole: what stands above and below explains it.
    const wanted = new Set(
      model.rows
        .filter((row) => isLookedFor(row, look))
        .map(({ child }) => treeOf(child.source, child.lineage.rootChildId)),
    );
    const members = model.rows
      .map(({ child }) => child)
      .filter((child) => wanted.has(treeOf(child.source, child.lineage.rootChildId)));
    kept.current = { at: performance.now(), look, trees: lineageTrees(members).toReversed() };
  }
  const { trees } = kept.current;
  const toggle = (key: string, isOpen: boolean): void => {
    const next = new Set(closed);
    if (isOpen) next.delete(key);
    else next.add(key);
    setClosed(next);
  };
  const flat = flattenTrees(trees, (node) => !closed.has(keyOf(node)));
  const items: readonly GridItem[] = flat.map(({ node, depth }) => {
    const newest = node.attempts.at(-1);
    const key = keyOf(node);
    const hasChildren = node.children.length > 0;
    const isOpen = !closed.has(key);
    return {
      key,
      height: rowHeight(isNarrow) + Math.max(0, node.attempts.length - 1) * 22,
      level: depth + 1,
      isExpanded: hasChildren ? isOpen : undefined,
      className: `child tree-row depth-${Math.min(depth, 6)} state-${newest?.state}`,
      draw: () =>
        newest === undefined ? null : (
          <>
            <ChildCells
              child={newest}
              now={now}
              before={
                hasChildren ? (
                  <button
                    type="button"
                    class="twist"
                    tabIndex={-1}
                    aria-hidden="true"
                    onClick={() => toggle(key, !isOpen)}
                  >
                    {isOpen ? "▾" : "▸"}
                  </button>
                ) : (
                  <span class="twist" aria-hidden="true" />
                )
              }
              after={<Below node={node} />}
            />
            {node.attempts.length > 1 && <EarlierAttempts node={node} />}
          </>
        ),
    };
  });
  const open = (key: string): void => {
    const child = model.find(key);
    if (child !== undefined) go({ child });
  };
  return (
    <section class="view" aria-label="Tree">
      <p class="ledger">
        <span>
          {trees.length} {trees.length === 1 ? "tree" : "trees"}
        </span>
        <span class="ledger-actions">
          <button type="button" onClick={() => setClosed(new Set())}>
            Open all
          </button>
          <button type="button" onClick={() => setClosed(new Set(flattenTrees(trees).map(({ node }) => keyOf(node))))}>
            Close all
          </button>
        </span>
      </p>
      {items.length === 0 && <p class="nothing">No child matches.</p>}
      <VirtualGrid id="tree" label="Trees of children" role="treegrid" items={items} onOpen={open} onFold={toggle} />
    </section>
  );
}

function treeOf(source: string, rootChildId: string): string {
  return JSON.stringify([source, rootChildId]);
}

function keyOf({ attempts }: AgentNode): string {
  const newest = attempts.at(-1);
  return newest === undefined ? "" : childKey(newest);
}

function Below({ node }: { readonly node: AgentNode }): JSX.Element {
  const newest = node.attempts.at(-1);
  const hasLiveBelow = node.liveDescendants > 0;
  const usage = usageWords(node.usage);
  return (
    <>
      {newest !== undefined && hasEnded(newest) && hasLiveBelow && (
        <span class="mark mark-live">
          {node.liveDescendants} live {node.liveDescendants === 1 ? "descendant" : "descendants"}
        </span>
      )}
      {newest !== undefined && !hasEnded(newest) && node.descendants > 0 && (
        <span class="mark">
          {node.descendants} below, {node.liveDescendants} live
        </span>
      )}
      {node.isParentMissing && <span class="mark mark-provisional">its parent is not listed here</span>}
      {usage !== "" && <span class="mark">{usage}</span>}
    </>
  );
}

function EarlierAttempts({ node }: { readonly node: AgentNode }): JSX.Element {
  return (
    <div class="attempts" role="gridcell">
      {node.attempts.slice(0, -1).map((attempt) => (
        <span key={attempt.childId} class={`cut state-${attempt.state}`}>
          attempt {attempt.lineage.attempt + 1} {attempt.state}: <code>{attempt.childId}</code>
        </span>
      ))}
    </div>
  );
}

const NUMBER = new Intl.NumberFormat();
const MONEY = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", maximumFractionDigits: 4 });

/** Sums of what was reported, and of how many: silence is no zero. */
export function usageWords({ inputTokens, outputTokens, costUsd, toolCalls, reported, members }: UsageRollup): string {
  if (reported === 0) return "";
  const parts = [
    ...(inputTokens === null && outputTokens === null
      ? []
      : [`${NUMBER.format((inputTokens ?? 0) + (outputTokens ?? 0))} tokens`]),
    ...(costUsd === null ? [] : [MONEY.format(costUsd)]),
    ...(toolCalls === null ? [] : [`${NUMBER.format(toolCalls)} tool ${toolCalls === 1 ? "call" : "calls"}`]),
  ];
  if (parts.length === 0) return "";
  return members === 1 ? parts.join(", ") : `${parts.join(", ")} (${reported} of ${members} reported)`;
}
