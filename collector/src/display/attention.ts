import type { ChildView } from "@agent-lifecycle/proto";
import { hasEnded } from "./child-key.ts";

/** Where a child stands when one looks at what is going on. */
export type Attention =
  /** Somebody has to do something, or to know of it. */
  | "attention"
  /** It goes on, as far as is known. */
  | "running"
  /** It ended, and not long ago. */
  | "finished"
  /** It ended longer ago than ended children are kept in sight. */
  | "folded";

const NEEDS_PERSON: ReadonlySet<string> = new Set(["user", "permission", "auth"]);

/** Whether it waits for a person, as its source said. */
export function waitsForPerson({ state, facts }: ChildView): boolean {
  return state === "waiting" && facts.waitingOn !== undefined && NEEDS_PERSON.has(facts.waitingOn.kind);
}

/**
 * @param now milliseconds since the epoch, on the collector's clock
 * @param keptMs how long ended children are kept in sight; infinite for always
 */
export function attentionOf(child: ChildView, now: number, keptMs: number): Attention {
  if (!hasEnded(child)) return child.stale !== null || waitsForPerson(child) ? "attention" : "running";
  const endedAt = Date.parse(child.stateAt ?? child.lastObservedAt);
  // An end that was heard of late is news when it is heard of.
  const heardAt = Math.max(endedAt, Date.parse(child.lastEvidenceAt));
  if (now - heardAt >= keptMs) return "folded";
  return child.state === "failed" || child.state === "lost" ? "attention" : "finished";
}

/** What needs a person first, then what may be lost, then what is over. Smaller comes first. */
export function urgencyOf(child: ChildView): number {
  if (waitsForPerson(child)) return 0;
  if (child.stale !== null) return 1;
  return child.state === "lost" ? 2 : 3;
}
