import { type ChildView, type SummaryView, VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";
import { hasEnded } from "../display/child-key.ts";
import { doingWords, durationWords, endWords } from "../display/child-words.ts";
import { printable } from "./child-table.ts";

/**
 * The fallback for hosts that can only show text (D3): one line for the whole, labelled display-only, and one `DISPLAY
 * ONLY` row for each child. Nothing reads them back: editing them changes no state.
 */
export function todoText(summary: SummaryView, children: readonly ChildView[], now: number): string {
  if (!summary.evidenceSeen) return `${VISIBILITY_UNAVAILABLE}\n`;
  const { started, live } = summary;
  const whole = `- [ ] Background work (display-only): ${live} of ${started} ${started === 1 ? "child" : "children"} live; editing this changes nothing`;
  return `${[whole, ...children.map((child) => rowOf(child, now))].join("\n")}\n`;
}

function rowOf(child: ChildView, now: number): string {
  const { facts, childId, state } = child;
  const name = facts.name === undefined ? childId : `${facts.name} (${childId})`;
  const age = durationWords(now - Date.parse(child.lastEvidenceAt));
  const words = [
    state ?? "state unknown",
    ...(child.stale === null ? [] : ["stale"]),
    ...(child.provisional ? ["provisional"] : []),
    hasEnded(child) ? endWords(child) : doingWords(child),
    `heard of ${age} ago`,
  ].filter((part) => part !== "");
  return `- [ ] DISPLAY ONLY ${printable(name)}: ${printable(words.join(", "))}`;
}
