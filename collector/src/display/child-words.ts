import type { Capabilities, ChildView, SummaryView, WaitingKind } from "@agent-lifecycle/proto";
import { hasEnded } from "./child-key.ts";

/** Writes a timestamp for people; each surface knows its own zone and width. */
export type ClockWords = (timestamp: string) => string;

/** Whole seconds, minutes, hours, days: the two largest that matter. A time ahead of the clock is `0 s`. */
export function durationWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const WAITING_WORDS: Readonly<Record<WaitingKind, string>> = {
  user: "the user",
  permission: "a permission",
  auth: "a sign-in",
  child: "a child",
  tool: "a tool",
  provider_retry: "the provider, to try again",
  other: "something else",
};

/** What it waits on, as its source said it; empty when it said nothing. */
export function waitingWords({ facts: { waitingOn } }: ChildView): string {
  if (waitingOn === undefined) return "";
  const who = waitingOn.childId === undefined ? WAITING_WORDS[waitingOn.kind] : `child ${waitingOn.childId}`;
  return waitingOn.text === undefined ? `waits on ${who}` : `waits on ${who}: ${waitingOn.text}`;
}

/** What it is doing or waiting on, as its source said it; empty when its source said nothing. */
export function doingWords(child: ChildView): string {
  const { tool } = child.facts;
  const parts = [waitingWords(child), child.activity ?? "", tool === undefined ? "" : `tool ${tool}`];
  return parts.filter((part) => part !== "").join(" · ");
}

const STALE_WORDS = {
  deadline: "nothing heard within its deadline",
  snapshot_omission: "complete snapshots no longer list it",
} as const;

/** Why a child that has not ended is marked stale, and what happens next. */
export function staleWords({ stale, reconciliation }: ChildView, clockWords: ClockWords): string {
  if (stale === null) return "";
  const question =
    reconciliation === null
      ? "nobody can be asked about it"
      : `its source has until ${clockWords(reconciliation.deadline)} to answer`;
  return `stale since ${clockWords(stale.since)}: ${STALE_WORDS[stale.reason]}; ${question}`;
}

/** What the record lacks. */
export function provisionalWords({ provisional, missing, gaps }: ChildView): string {
  if (!provisional) return "";
  const reasons = missing.map((what) => {
    if (what === "epoch_gap") return "what happened between two runs of its source is not known";
    if (what === "beginning") return "its beginning was not seen";
    const ranges = gaps.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
    return ranges.length === 0 ? "reports are missing" : `missing reports ${ranges.join(", ")}`;
  });
  return `provisional: ${reasons.join("; ")}`;
}

export function adoptedWords({ lineage }: ChildView, clockWords: ClockWords): string {
  if (!lineage.external) return "";
  const when = lineage.adoptedAt === undefined ? "at an unknown time" : `at ${clockWords(lineage.adoptedAt)}`;
  return `adopted ${when}; nothing is claimed about its life before`;
}

/** By the cause of a loss: what there was to it, and no more. */
const LOSS_WORDS: Readonly<Record<string, string>> = {
  omitted_by_authority: "its source's authority does not list it any more",
  authority_unreachable: "its source's authority could not be asked by its deadline",
  heartbeats_stopped: "promised heartbeats did not come by its deadline",
};

/** Why the collector says of a child that it is lost. */
export function lossWords({ cause }: ChildView["facts"]): string {
  return LOSS_WORDS[cause ?? ""] ?? "nobody answered for it by its deadline";
}

/** How it ended, as far as somebody said so. */
export function endWords(child: ChildView): string {
  if (!hasEnded(child)) return "";
  const { cause, exitCode, signal } = child.facts;
  const parts = [
    // Completing needs no cause; every other end has one, and it may be unknown.
    ...(cause === undefined ? (child.state === "completed" ? [] : ["cause unknown"]) : [`cause ${cause}`]),
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(signal === undefined ? [] : [`signal ${signal}`]),
  ];
  if (child.terminalEvidence === "authoritative_snapshot") parts.push("known from an authoritative snapshot");
  if (child.terminalEvidence === "failed_reconciliation") parts.push(lossWords(child.facts));
  return parts.join(", ");
}

export function lateWords({ lateEvidence }: ChildView, clockWords: ClockWords): string {
  if (lateEvidence === null) return "";
  const { count, lastObservedAt, lastState } = lateEvidence;
  const said = lastState === null ? "" : `, saying ${lastState}`;
  return `contradicted: ${count} ${count === 1 ? "claim" : "claims"} after the end, the last at ${clockWords(lastObservedAt)}${said}`;
}

export function cancelWords(child: ChildView, clockWords: ClockWords): string {
  const { cancelRequestedAt } = child.facts;
  if (cancelRequestedAt === undefined || child.state === "cancelled") return "";
  const asked = `cancel requested at ${clockWords(cancelRequestedAt)}`;
  return hasEnded(child) ? `${asked}, not honoured` : `${asked}, not confirmed`;
}

/** The names of the capabilities, for people, in the order in which they are shown. */
export const CAPABILITY_WORDS: Readonly<Record<keyof Capabilities, string>> = {
  history: "history",
  heartbeat: "heartbeat",
  snapshot: "snapshot",
  cancel: "cancel",
  terminalCause: "terminal cause",
};

/** Known and unknown, both in words (D4). */
export function capabilityWords({ capabilities }: ChildView): string {
  const named = (knowledge: "known" | "unknown"): readonly string[] =>
    Object.entries(CAPABILITY_WORDS)
      .filter(([name]) => capabilities[name as keyof Capabilities] === knowledge)
      .map(([, words]) => words);
  const known = named("known");
  const unknown = named("unknown");
  const parts = [
    ...(known.length > 0 ? [`known: ${known.join(", ")}`] : []),
    ...(unknown.length > 0 ? [`unknown: ${unknown.join(", ")}`] : []),
  ];
  return `capabilities ${parts.join("; ")}`;
}

/** The sum that always adds up. */
export function equationWords({ started, live, byState }: Pick<SummaryView, "started" | "live" | "byState">): string {
  const { completed, failed, cancelled, lost } = byState;
  return `${started} started = ${live} live + ${completed} completed + ${failed} failed + ${cancelled} cancelled + ${lost} lost`;
}

/** Everything that a search looks at, in small letters. */
export function searchText({ childId, source, state, activity, facts, lineage }: ChildView): string {
  const { name = "", agentType = "", tool = "", model = "" } = facts;
  return `${childId} ${source} ${name} ${agentType} ${model} ${tool} ${state} ${activity ?? ""} ${lineage.rootChildId}`.toLowerCase();
}

/** Whether a text is found by what was typed: every word has to occur somewhere. */
export function isFound(text: string, typed: string): boolean {
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
