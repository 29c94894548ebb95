import { attentionOf, urgencyOf } from "../../src/display/attention.ts";
import { isFound } from "../../src/display/child-words.ts";
import type { Look } from "./address.ts";
import type { Row } from "./board-model.ts";

/** Whether a row is among those that are looked for. */
export function isLookedFor({ child, text }: Row, look: Look): boolean {
  if (look.states.length > 0 && (child.state === null || !look.states.includes(child.state))) return false;
  if (look.stale && child.stale === null) return false;
  if (look.provisional && !child.provisional) return false;
  if (look.source !== "" && child.source !== look.source) return false;
  if (look.root !== "" && child.lineage.rootChildId !== look.root) return false;
  return look.text === "" || isFound(text, look.text);
}

/** Every row is in exactly one of these: their numbers add up to the rows. */
export interface NowGroups {
  readonly attention: readonly Row[];
  readonly running: readonly Row[];
  readonly finished: readonly Row[];
  /** Ended longer ago than ended children are kept in sight. */
  readonly folded: number;
  /** Not looked for. */
  readonly filtered: number;
}

export function groupRows(rows: readonly Row[], look: Look, now: number): NowGroups {
  const attention: Row[] = [];
  const running: Row[] = [];
  const finished: Row[] = [];
  let folded = 0;
  let filtered = 0;
  // Who asks for ended states wants to see them, however old.
  const asksForStates = look.states.length > 0;
  const keptMs = look.kept === "all" || asksForStates ? Number.POSITIVE_INFINITY : Number(look.kept) * 1_000;
  for (const row of rows) {
    if (!isLookedFor(row, look)) {
      filtered += 1;
      continue;
    }
    const group = attentionOf(row.child, now, keptMs);
    if (group === "attention") attention.push(row);
    else if (group === "running") running.push(row);
    else if (group === "finished") finished.push(row);
    else folded += 1;
  }
  attention.sort((one, other) => urgencyOf(one.child) - urgencyOf(other.child));
  finished.sort((one, other) => endOf(other) - endOf(one));
  return { attention, running, finished, folded, filtered };
}

function endOf({ child }: Row): number {
  return Date.parse(child.stateAt ?? child.lastObservedAt);
}
