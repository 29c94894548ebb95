import { setImmediate as nextTurn } from "node:timers/promises";
import { isTerminal, STATES } from "@agent-lifecycle/proto";
import { type ChildRecord, isProvisional } from "../core/index.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import type { BoundedSources } from "../telemetry/bounded-sources.ts";
import { CHILDREN_METRICS } from "../telemetry/lifecycle-metrics.ts";
import { PIPELINE_METRICS } from "../telemetry/pipeline-metrics.ts";
import type { Instruments } from "./instruments.ts";

/** The children in memory: all that live, and some that ended. */
export interface ChildrenInMemory {
  children(): Iterable<ChildRecord>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A million children are looked at in a tenth of a second: not in one piece. */
const CHILDREN_PER_TURN = 10_000;

/** Reads how the children stand. Resolves when the gauges say it. */
export type SetChildren = (reader: ProjectionReader, inMemory: ChildrenInMemory | undefined) => Promise<void>;

export function createChildrenMetrics({ gauge }: Instruments, sources: BoundedSources): SetChildren {
  const children = gauge(CHILDREN_METRICS.children);
  const stale = gauge(CHILDREN_METRICS.stale);
  const provisional = gauge(CHILDREN_METRICS.provisional);
  const unknown = gauge(CHILDREN_METRICS.stateUnknown);
  const position = gauge(PIPELINE_METRICS.position);
  const live = gauge(CHILDREN_METRICS.live);
  const liveStale = gauge(CHILDREN_METRICS.liveStale);
  const liveProvisional = gauge(CHILDREN_METRICS.liveProvisional);
  const waiting = gauge(CHILDREN_METRICS.waiting);
  const unstarted = gauge(CHILDREN_METRICS.unstarted);
  const openGaps = gauge(CHILDREN_METRICS.openGaps);
  const pending = gauge(CHILDREN_METRICS.pendingReconciliations);
  const evidenceAge = gauge(CHILDREN_METRICS.evidenceAge);
  const progressAge = gauge(CHILDREN_METRICS.progressAge);
  const bySource = [live, liveStale, liveProvisional, waiting, unstarted, openGaps, pending, evidenceAge, progressAge];
  let looking: Promise<void> | undefined;

  function setTotals(reader: ProjectionReader): void {
    const summary = reader.summary();
    for (const state of STATES) children.set({ state }, summary.byState[state]);
    stale.set(summary.stale);
    provisional.set(summary.provisional);
    unknown.set(summary.stateUnknown);
    position.set(reader.lastInputId());
  }

  async function setLive(inMemory: ChildrenInMemory): Promise<void> {
    const counts = new LiveCounts(sources);
    let looked = 0;
    for (const record of inMemory.children()) {
      counts.add(record);
      looked += 1;
      if (looked % CHILDREN_PER_TURN === 0) await nextTurn();
    }
    const now = inMemory.now();
    // What no child says any more is gone, not frozen.
    for (const instrument of bySource) instrument.reset();
    for (const [source, count] of counts.bySource) {
      for (const [state, number] of count.states) live.set({ source, state }, number);
      for (const [reason, number] of count.stale) liveStale.set({ source, reason }, number);
      for (const [kind, number] of count.waiting) waiting.set({ source, kind }, number);
      liveProvisional.set({ source }, count.provisional);
      unstarted.set({ source }, count.states.get("created") ?? 0);
      openGaps.set({ source }, count.gaps);
      pending.set({ source }, count.pending);
      evidenceAge.set({ source }, Math.max(0, now - count.oldestEvidenceAt) / 1_000);
      progressAge.set({ source }, Math.max(0, now - count.oldestProgressAt) / 1_000);
    }
  }

  return async (reader, inMemory) => {
    setTotals(reader);
    if (inMemory === undefined) return;
    // Several scrapes at one time share one look.
    looking ??= setLive(inMemory).finally(() => {
      looking = undefined;
    });
    await looking;
  };
}

interface SourceCounts {
  readonly states: Map<string, number>;
  readonly stale: Map<string, number>;
  readonly waiting: Map<string, number>;
  provisional: number;
  gaps: number;
  pending: number;
  oldestEvidenceAt: number;
  oldestProgressAt: number;
}

class LiveCounts {
  readonly bySource = new Map<string, SourceCounts>();
  readonly #sources: BoundedSources;

  constructor(sources: BoundedSources) {
    this.#sources = sources;
  }

  add(record: ChildRecord): void {
    const { state } = record;
    if (state === undefined || isTerminal(state)) return;
    const counts = this.#countsOf(this.#sources.label(record.source));
    increment(counts.states, state);
    if (record.stale !== undefined) increment(counts.stale, record.stale.reason);
    if (state === "waiting") increment(counts.waiting, record.facts?.waitingOn?.kind ?? "unknown");
    if (isProvisional(record)) counts.provisional += 1;
    counts.gaps += record.gaps.length;
    if (record.reconciliation !== undefined) counts.pending += 1;
    counts.oldestEvidenceAt = Math.min(counts.oldestEvidenceAt, record.lastEvidenceAt);
    counts.oldestProgressAt = Math.min(counts.oldestProgressAt, record.lastProgressAt);
  }

  #countsOf(source: string): SourceCounts {
    const known = this.bySource.get(source);
    if (known !== undefined) return known;
    const counts: SourceCounts = {
      states: new Map(),
      stale: new Map(),
      waiting: new Map(),
      provisional: 0,
      gaps: 0,
      pending: 0,
      oldestEvidenceAt: Number.POSITIVE_INFINITY,
      oldestProgressAt: Number.POSITIVE_INFINITY,
    };
    this.bySource.set(source, counts);
    return counts;
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
