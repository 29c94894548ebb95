import type { ChildView } from "@agent-lifecycle/proto";
import type { ComponentChildren, JSX } from "preact";
import { hasEnded } from "../../src/display/child-key.ts";
import {
  adoptedWords,
  cancelWords,
  doingWords,
  endWords,
  lateWords,
  provisionalWords,
  staleWords,
} from "../../src/display/child-words.ts";
import { ChildLink } from "./child-link.tsx";
import { StateMark } from "./state-mark.tsx";
import { ageWords, clockWords } from "./time-words.ts";

interface ChildRowProps {
  readonly child: ChildView;
  readonly now: number;
  /** Before the name: what opens and closes a branch. */
  readonly before?: ComponentChildren;
  /** Before the marks. */
  readonly after?: ComponentChildren;
}

/** The cells of one child: its literal state, who it is, what it does, how fresh that is, and its marks (D1). */
export function ChildCells({ child, now, before, after }: ChildRowProps): JSX.Element {
  const { name, agentType } = child.facts;
  const doing = hasEnded(child) ? endWords(child) : doingWords(child);
  return (
    <>
      <div class="cell cell-state" role="gridcell">
        <StateMark state={child.state} />
        <span class="quiet">
          {child.stateInferred
            ? "implied"
            : child.stateAt === null
              ? ""
              : hasEnded(child)
                ? ""
                : `for ${ageWords(child.stateAt, now)}`}
        </span>
      </div>
      <div class="cell cell-who" role="gridcell">
        <span class="who">
          {before}
          <ChildLink source={child.source} childId={child.childId} isInGrid>
            {name ?? child.childId}
          </ChildLink>
          {child.lineage.attempt > 0 && <span class="tag">attempt {child.lineage.attempt + 1}</span>}
        </span>
        <span class="quiet cut">
          {name === undefined ? "" : `${child.childId} · `}
          {child.source}
          {agentType === undefined ? "" : ` · ${agentType}`}
        </span>
      </div>
      <div class="cell cell-doing" role="gridcell">
        <span class={doing === "" ? "quiet cut" : "cut"}>
          {doing === "" ? (hasEnded(child) ? "" : "activity unknown") : doing}
        </span>
        <span class="marks cut">
          {after}
          <Marks child={child} />
        </span>
      </div>
      <Freshness child={child} now={now} />
    </>
  );
}

function Marks({ child }: { readonly child: ChildView }): JSX.Element {
  const marks = [
    ["stale", staleWords(child, clockWords)],
    ["late", lateWords(child, clockWords)],
    ["cancel", cancelWords(child, clockWords)],
    ["provisional", provisionalWords(child)],
    ["adopted", adoptedWords(child, clockWords)],
  ] as const;
  return (
    <>
      {marks.map(([kind, words]) =>
        words === "" ? null : (
          <span key={kind} class={`mark mark-${kind}`}>
            {words}
          </span>
        ),
      )}
    </>
  );
}

function Freshness({ child, now }: { readonly child: ChildView; readonly now: number }): JSX.Element {
  if (hasEnded(child)) {
    const verb = child.state === "lost" ? "last heard of" : "ended";
    const at = child.state === "lost" ? child.lastEvidenceAt : (child.stateAt ?? child.lastObservedAt);
    return (
      <div class="cell cell-fresh" role="gridcell">
        <span>
          {verb} {ageWords(at, now)} ago
        </span>
        <span class="quiet">{clockWords(at)}</span>
      </div>
    );
  }
  return (
    <div class="cell cell-fresh" role="gridcell">
      <span class={child.stale === null ? "" : "is-stale"}>heard of {ageWords(child.lastEvidenceAt, now)} ago</span>
      <span class="quiet">progress {ageWords(child.lastProgressAt, now)} ago</span>
    </div>
  );
}
