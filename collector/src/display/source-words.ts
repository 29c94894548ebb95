import type { AdapterView, ChildView } from "@agent-lifecycle/proto";
import { CAPABILITY_WORDS } from "./child-words.ts";

/** What the state of a child rests on; empty without a state. */
export function evidenceWords({ stateEvidence }: Pick<ChildView, "stateEvidence">): string {
  switch (stateEvidence) {
    case "event":
      return "events of its own";
    case "authoritative_snapshot":
      return "a snapshot of its source's authority";
    case "failed_reconciliation":
      return "nobody's answer by its deadline";
    case null:
      return "";
  }
}

/** What the observed system was found to offer, and what is therefore known of its children. */
export function offerWords({ features, capabilities }: AdapterView): string {
  if (features === null || capabilities === null) return "not known while there is no connection";
  const offers = Object.entries(features).map(
    ([name, value]) => `${name}: ${value === true ? "yes" : value === false ? "no" : value}`,
  );
  const known = Object.entries(CAPABILITY_WORDS)
    .filter(([name]) => capabilities[name as keyof typeof capabilities] === "known")
    .map(([, words]) => words);
  return `${offers.join(", ")}; known of its children: ${known.length === 0 ? "nothing" : known.join(", ")}`;
}
