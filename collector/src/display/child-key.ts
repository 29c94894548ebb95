import type { ChildView } from "@agent-lifecycle/proto";

/** Identifies a child among others: its source and its id (contract section 1). Opaque text, equal where both are equal. */
export function childKey({ source, childId }: Pick<ChildView, "source" | "childId">): string {
  return JSON.stringify([source, childId]);
}

/** Key of the parent that its lineage names; `undefined` where it names none. Lineage stays within one source. */
export function parentKey({ source, lineage }: Pick<ChildView, "source" | "lineage">): string | undefined {
  const { parentChildId } = lineage;
  return parentChildId === undefined ? undefined : JSON.stringify([source, parentChildId]);
}

/** Whether a child has ended: its state is a terminal one. Without a state nothing is known, its end neither. */
export function hasEnded({ state }: Pick<ChildView, "state">): boolean {
  return state === "completed" || state === "failed" || state === "cancelled" || state === "lost";
}
