import type { ChildRecord } from "../projection/child-record.ts";
import type { ReconciliationInput } from "../projection/input.ts";

/**
 * What the authority of a source had to say by the deadline. `none`: the source has no authority. `says_nothing`: it
 * answered, but not for this child, or not for all that it covers. `lists_child`: it names the child; where that settled
 * anything, the request is gone already.
 */
export type AuthorityAnswer = "none" | "unreachable" | "omits_child" | "says_nothing" | "lists_child";

/** How a reconciliation ends; `cause` says why it has failed, by what there was to it. */
export type ReconciliationOutcome = Pick<ReconciliationInput, "outcome" | "cause">;

const UNAVAILABLE: ReconciliationOutcome = { outcome: "unavailable" };

/**
 * S6: the outcome of a reconciliation that is still open at its deadline. Without an authority, only a child that is known
 * to send heartbeats owes an answer; one that never promised any may be silent and well, and stays stale. So does one
 * that its authority names without saying anything newer, or does not speak about.
 */
export function reconciliationOutcome(record: ChildRecord, answer: AuthorityAnswer): ReconciliationOutcome {
  switch (answer) {
    case "unreachable":
      return { outcome: "failed", cause: "authority_unreachable" };
    case "omits_child":
      return { outcome: "failed", cause: "omitted_by_authority" };
    case "says_nothing":
    case "lists_child":
      return UNAVAILABLE;
    case "none":
      return record.capabilities.heartbeat === "known"
        ? { outcome: "failed", cause: "heartbeats_stopped" }
        : UNAVAILABLE;
  }
}
