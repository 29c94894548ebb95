import type { AuditView, ChildView, InputView } from "@agent-lifecycle/proto";
import { hasEnded } from "./child-key.ts";
import {
  adoptedWords,
  type ClockWords,
  cancelWords,
  doingWords,
  durationWords,
  endWords,
  lateWords,
  lossWords,
  provisionalWords,
  staleWords,
} from "./child-words.ts";

/** What is known of a child, and from what. */
export interface Evidence {
  readonly child: ChildView;
  readonly inputs: readonly InputView[];
  readonly audit: readonly AuditView[];
}

/**
 * Why a child is in its state, in sentences that follow from the record alone.
 * @param now milliseconds since the epoch, on the collector's clock
 */
export function explain({ child, inputs, audit }: Evidence, now: number, clockWords: ClockWords): readonly string[] {
  const age = (timestamp: string): string => `${durationWords(now - Date.parse(timestamp))} ago`;
  const sentences = [
    child.state === null
      ? "No state was ever reported of it, and none is guessed."
      : `It is ${child.state}${child.stateAt === null ? "" : ` since ${clockWords(child.stateAt)}`}: ${reasonWords(child, inputs, audit)}.`,
    hasEnded(child)
      ? endWords(child)
      : `It was last heard of ${age(child.lastEvidenceAt)}, and made progress ${age(child.lastProgressAt)}.`,
    hasEnded(child) ? "" : doingWords(child) === "" ? "Its source said nothing of what it does." : doingWords(child),
    staleWords(child, clockWords),
    provisionalWords(child),
    adoptedWords(child, clockWords),
    cancelWords(child, clockWords),
    lateWords(child, clockWords),
    child.state === "lost" ? "Lost means that it cannot be accounted for: not that it is known to have ended." : "",
  ];
  return sentences.filter((sentence) => sentence !== "");
}

function reasonWords(child: ChildView, inputs: readonly InputView[], audit: readonly AuditView[]): string {
  if (child.terminalEvidence === "failed_reconciliation") return lossWords(child.facts);
  const stated = inputs.findLast(({ event, status }) => event?.state === child.state && ACCEPTED.has(status));
  const corrected = audit.findLast(({ reason, to }) => reason === "authoritative_snapshot" && to === child.state);
  if (corrected !== undefined && (stated === undefined || corrected.inputId > stated.inputId)) {
    return `an authoritative snapshot (${corrected.snapshotId ?? "unnamed"}) said so, where ${corrected.from ?? "nothing"} was known`;
  }
  if (stated === undefined) return "the report of it is older than what is listed here";
  const { status, event, diagnostic } = stated;
  const how = child.stateInferred ? "its source implied it" : "its source reported it";
  return `${how} (event ${event?.eventId ?? "unknown"}, ${status}${diagnostic === null ? "" : `: ${diagnostic}`})`;
}

const ACCEPTED: ReadonlySet<string> = new Set(["applied", "provisional", "gap_filled"]);
