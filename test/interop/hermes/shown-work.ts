import type { ChildView } from "@agent-lifecycle/proto";
import { PLAN, type PlannedChild } from "./delegated-work.ts";
import type { HermesPackage } from "./installation.ts";
import { markdownTable } from "./markdown-table.ts";
import type { ObservedWork } from "./observed-work.ts";

/** One line of the table that a run ends with: a child, and all that is claimed about it. */
export interface ShownChild {
  readonly child: string;
  readonly parent: string;
  readonly root: string;
  readonly state: string;
  /** What the state rests on. */
  readonly evidence: string;
  readonly cause: string;
  readonly history: string;
  readonly model: string;
}

/** What the collector shows, in the order of the plan, with goals in the place of ids. */
export function shownWork({ seen, shown }: ObservedWork): readonly ShownChild[] {
  const goals = new Map([...seen.ids].map(([goal, id]) => [id, goal]));
  const goalOf = (id: string | undefined): string => (id === undefined ? "-" : (goals.get(id) ?? id));
  return PLAN.map(({ goal }) => {
    const view = shown.get(goal);
    return view === undefined
      ? { child: goal, parent: "?", root: "?", state: "not shown", evidence: "?", cause: "?", history: "?", model: "?" }
      : {
          child: goal,
          parent: goalOf(view.lineage.parentChildId),
          root: goalOf(view.lineage.rootChildId),
          state: `${view.state}`,
          evidence: `${view.stateEvidence}`,
          cause: view.facts.cause ?? "-",
          history: view.history,
          model: view.facts.model ?? "-",
        };
  });
}

/** What the collector must show, by what was done and what the gateway called it. */
export function expectedWork(build: HermesPackage, model: string): readonly ShownChild[] {
  return PLAN.map((planned) => ({
    child: planned.goal,
    parent: planned.parent ?? "-",
    root: planned.parent ?? planned.goal,
    ...expectedEnd(planned, build),
    model,
  }));
}

type ExpectedEnd = Pick<ShownChild, "state" | "evidence" | "cause" | "history">;

function expectedEnd({ endsAs }: PlannedChild, build: HermesPackage): ExpectedEnd {
  const word = endsAs(build);
  if (!build.replays) {
    // Who ran is all that can be known there: that a child runs no more, and not how it ended.
    return word === undefined
      ? { state: "running", evidence: "authoritative_snapshot", cause: "-", history: "partial" }
      : { state: "lost", evidence: "failed_reconciliation", cause: "omitted_by_authority", history: "partial" };
  }
  const told = { evidence: "event", history: "complete" };
  switch (word) {
    case undefined:
      return { state: "running", cause: "-", ...told };
    case "completed":
      return { state: "completed", cause: "-", ...told };
    case "failed":
      return { state: "failed", cause: "-", ...told };
    case "timeout":
      return { state: "failed", cause: "timeout", ...told };
    case "interrupted":
      return { state: "cancelled", cause: "interrupted", ...told };
    default:
      throw new Error(`the plan knows no end called ${word}`);
  }
}

/** The table for people: what was done, what the owner was told, what the collector shows. */
export function tableOf(work: ObservedWork): string {
  const rows = shownWork(work).map(({ child, parent, state, evidence, cause, history }) => {
    const fate = PLAN.find(({ goal }) => goal === child)?.fate ?? "?";
    return [child, parent, fate, work.seen.ends.get(child) ?? "(nothing)", state, evidence, cause, history];
  });
  const heads = ["child", "parent", "what it does", "the owner is told", "shown as", "by", "cause", "history"];
  return markdownTable([heads, ...rows]);
}

/** How often each type of frame came, but those that come by the clock and not by what happens. */
export function countsByType(frames: readonly { readonly type: string }[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { type } of frames) if (!BY_THE_CLOCK.has(type)) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/**
 * Their number depends on the speed of the machine: spinners and signs of patience while a model is silent, numbers of
 * tokens that are looked at once a second, and the gateway's look at its own database, which it says to all clients.
 */
const BY_THE_CLOCK = new Set(["thinking.delta", "subagent.thinking", "session.usage", "sessions.changed"]);

/** The changes that were shown of a child, one after another. */
export function changesOf(seen: readonly ChildView[], id: string | undefined): readonly ChildView[] {
  return seen.filter(({ childId }) => childId === id);
}
