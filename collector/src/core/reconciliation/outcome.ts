import type { ChildRecord } from "../projection/child-record.ts";
import type { ReconciliationInput } from "../projection/input.ts";

/** What the authority of a source had to say by the deadline. `none`: the source has no authority. */
export type AuthorityAnswer = "none" | "unreachable" | "omits_child" | "lists_child";

/**
 * S6: the outcome of a reconciliation at its deadline. Without an authority, only a child that is known to send
 * heartbeats owes an answer; one that never promised any may be silent and well, and stays stale.
 * @returns `undefined` when the authority's snapshot itself has settled the question.
 */
export function reconciliationOutcome(
  record: ChildRecord,
  answer: AuthorityAnswer,
): ReconciliationInput["outcome"] | undefined {
  switch (answer) {
    case "lists_child":
      return undefined;
    case "unreachable":
    case "omits_child":
      return "failed";
    case "none":
      return record.capabilities.heartbeat === "known" ? "failed" : "unavailable";
  }
}
