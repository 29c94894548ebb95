import { isTerminal } from "@agent-lifecycle/proto";
import type { ChildChange, ChildRecord, StaleReason, TerminalEvidence } from "../core/index.ts";
import type { BoundedSources } from "../telemetry/bounded-sources.ts";
import { CHANGE_METRICS } from "../telemetry/lifecycle-metrics.ts";
import { traceIdOf } from "../telemetry/trace-identity.ts";
import type { Instruments } from "./instruments.ts";

const ENDS = ["failed", "lost"] as const;
const EVIDENCE: readonly TerminalEvidence[] = ["event", "authoritative_snapshot", "failed_reconciliation"];
const STALE_REASONS: readonly StaleReason[] = ["deadline", "snapshot_omission"];

/** Counts what becomes of children, change by change. What changes nothing that is counted costs some comparisons. */
export function createChangeMetrics(
  { counter, histogram }: Instruments,
  sources: BoundedSources,
): (change: ChildChange) => void {
  const transitions = counter(CHANGE_METRICS.transitions);
  const ended = counter(CHANGE_METRICS.ended);
  const neverStarted = counter(CHANGE_METRICS.neverStarted);
  const stateSeconds = histogram(CHANGE_METRICS.stateSeconds);
  const startSeconds = histogram(CHANGE_METRICS.startSeconds);
  const lifetimeSeconds = histogram(CHANGE_METRICS.lifetimeSeconds);
  const staled = counter(CHANGE_METRICS.staled);
  const reconciliations = counter(CHANGE_METRICS.reconciliations);
  const sums = [
    ["corrections", counter(CHANGE_METRICS.corrections)],
    ["conflicts", counter(CHANGE_METRICS.conflicts)],
    ["outOfOrder", counter(CHANGE_METRICS.outOfOrder)],
  ] as const;
  const late = counter(CHANGE_METRICS.lateEvidence);

  const begun = new Set<string>();

  /** A series that begins with its first count has no increase: an alert on the first loss needs the nothing before it. */
  function begin(source: string): void {
    if (begun.has(source)) return;
    begun.add(source);
    for (const state of ENDS) for (const evidence of EVIDENCE) ended.inc({ source, state, evidence }, 0);
    for (const reason of STALE_REASONS) staled.inc({ source, reason }, 0);
  }

  function countTransition(before: ChildRecord | undefined, after: ChildRecord): void {
    const { state, stateAt } = after;
    if (state === undefined || stateAt === undefined) return;
    const source = sources.label(after.source);
    begin(source);
    transitions.inc({ source, from: before?.state ?? "none", to: state });
    const traceId = traceIdOf({ source: after.source, rootChildId: after.lineage.rootChildId });
    if (before?.state !== undefined && before.stateAt !== undefined) {
      stateSeconds.observe({ state: before.state }, secondsBetween(before.stateAt, stateAt), traceId);
    }
    if (state === "running" && after.history === "complete" && before?.state === "starting") {
      startSeconds.observe({}, secondsBetween(after.firstObservedAt, stateAt), traceId);
    }
    if (!isTerminal(state)) return;
    ended.inc({ source, state, evidence: after.terminalEvidence ?? "event" });
    lifetimeSeconds.observe({ state }, secondsBetween(after.firstObservedAt, stateAt), traceId);
    if (before?.state === "created") neverStarted.inc({ source, state });
  }

  function countSilence(before: ChildRecord, after: ChildRecord): void {
    const source = sources.label(after.source);
    if (before.stale === undefined && after.stale !== undefined) staled.inc({ source, reason: after.stale.reason });
    if (before.reconciliation === undefined || after.reconciliation !== undefined) return;
    reconciliations.inc({ source, outcome: outcomeOf(after) });
  }

  return ({ before, after }) => {
    if (before?.state !== after.state) countTransition(before, after);
    if (before === undefined) return;
    if (before.stale !== after.stale || before.reconciliation !== after.reconciliation) countSilence(before, after);
    for (const [name, sum] of sums) {
      if (after[name] > before[name]) sum.inc({ source: sources.label(after.source) }, after[name] - before[name]);
    }
    const claims = (after.lateEvidence?.count ?? 0) - (before.lateEvidence?.count ?? 0);
    if (claims > 0) late.inc({ source: sources.label(after.source) }, claims);
  };
}

function outcomeOf({ state, terminalEvidence, stale }: ChildRecord): "lost" | "unavailable" | "answered" {
  if (state === "lost" && terminalEvidence === "failed_reconciliation") return "lost";
  return stale === undefined ? "answered" : "unavailable";
}

/** Clocks of sources go back at times: no duration is below nothing. */
function secondsBetween(from: number, to: number): number {
  return Math.max(0, to - from) / 1_000;
}
