import type { AdapterView, AuthorityView, ChildView } from "@agent-lifecycle/proto";
import { CAPABILITY_WORDS, type ClockWords, lossWords } from "./child-words.ts";

/** What the state of a child rests on; empty without a state. */
export function evidenceWords({ stateEvidence, facts }: Pick<ChildView, "stateEvidence" | "facts">): string {
  switch (stateEvidence) {
    case "event":
      return "events of its own";
    case "authoritative_snapshot":
      return "a snapshot of its source's authority";
    case "failed_reconciliation":
      return lossWords(facts);
    case null:
      return "";
  }
}

/** Who can be asked about the children of a source, how far that may be relied on, and how asking goes. */
export function authorityWords(authority: AuthorityView | null, clockWords: ClockWords): string {
  if (authority === null) return "none: silence is judged by what children promised";
  const { id, kind, supportLevel, lastAnsweredAt, lastFailure, failuresInARow } = authority;
  const parts = [
    `${id} (${kind}, ${supportLevel})`,
    lastAnsweredAt === null ? "has not answered yet" : `answered last at ${clockWords(lastAnsweredAt)}`,
    ...(lastFailure === null ? [] : [`failed ${failuresInARow} times since: ${lastFailure}`]),
  ];
  return parts.join("; ");
}

/** How an adapter is connected to the system that it observes. */
export function connectionWords({ address, connection }: AdapterView, clockWords: ClockWords): string {
  const { state, since, count, lastEnd } = connection;
  const parts = [
    `${address}: ${state}${since === null ? "" : ` since ${clockWords(since)}`}`,
    ...(count > 1 ? [`${count} connections so far`] : []),
    ...(lastEnd === null ? [] : [`the last end at ${clockWords(lastEnd.at)}: ${lastEnd.text}`]),
  ];
  return parts.join("; ");
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
