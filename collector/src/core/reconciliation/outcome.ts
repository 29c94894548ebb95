import type { ChildRecord } from "../projection/child-record.ts";
import type { LossCause, ReconciliationInput } from "../projection/input.ts";

/**
 * What the authority of a source had to say by the deadline. `none`: the source has no authority. `says_nothing`: it
 * answered, but not for this child, or not for all that it covers. `lists_child`: it names the child; where that settled
 * anything, the request is gone already.
 */
export type AuthorityAnswer = "none" | "unreachable" | "omits_child" | "says_nothing" | "lists_child";

/**
 * S6: the outcome of a reconciliation that is still open at its deadline. Without an authority, only a child that is known
 * to send heartbeats owes an answer; one that never promised any may be silent and well, and stays stale. So does one
 * that its authority names without saying anything newer, or does not speak about.
 */
export function reconciliationOutcome(record: ChildRecord, answer: AuthorityAnswer): ReconciliationInput["outcome"] {
  switch (answer) {
    case "unreachable":
    case "omits_child":
      return "failed";
    case "says_nothing":
    case "lists_child":
      return "unavailable";
    case "none":
      return record.capabilities.heartbeat === "known" ? "failed" : "unavailable";
  }
}

/** Why a reconciliation has failed, by what there was to it; `undefined` where it cannot fail. */
export function lossCause(answer: AuthorityAnswer): LossCause | undefined {
  switch (answer) {
    case "unreachable":
      return "authority_unreachable";
    case "omits_child":
      return "omitted_by_authority";
    case "none":
      return "heartbeats_stopped";
    case "says_nothing":
    case "lists_child":
      return undefined;
  }
}
