import {
  type ChildRecord,
  childOf,
  childrenOf,
  createProjection,
  type FoldResult,
  type FreshnessPolicy,
  fold,
  IdentityMemory,
  isProvisional,
  Liveness,
  type Projection,
  type ProjectionInput,
  type SnapshotPolicy,
  serializeProjection,
} from "@agent-lifecycle/collector/projection";
import { type LifecycleEvent, parseTimestamp } from "@agent-lifecycle/proto";
import { deepFreeze } from "./deep-freeze.ts";
import type { HistoryStep } from "./histories.ts";

export type Policy = FreshnessPolicy & SnapshotPolicy;

export const TEST_POLICY: Policy = { staleAfterMs: 60_000, reconcileDeadlineMs: 30_000, missingGrace: 2 };

/** What one step did to the real projection, all inputs it led to taken together. */
export interface StepResult {
  /** Of the input itself; absent for a tick, which is none. */
  readonly status?: FoldResult["status"];
  readonly diagnostics: readonly string[];
  readonly audit: readonly { readonly childId: string; readonly from: string | null; readonly to: string }[];
  /** Who became stale by a tick, as `["source","child"]`. */
  readonly stale: readonly string[];
}

/**
 * The real core as a host runs it: identities from memory, liveness beside it, every input kept for a replay. Records
 * are frozen as they appear, so that a fold that wrote to one would throw.
 */
export class CoreRun {
  readonly projection: Projection = createProjection();
  readonly liveness: Liveness;
  readonly identities: IdentityMemory = new IdentityMemory();
  /** Everything that was folded, in order. */
  readonly inputs: ProjectionInput[] = [];
  readonly #policy: Policy;

  constructor(policy: Policy = TEST_POLICY) {
    this.#policy = policy;
    this.liveness = new Liveness(() => policy);
  }

  take(step: HistoryStep): StepResult {
    switch (step.type) {
      case "event":
        return resultOf(this.takeEvent(step.event, step.at, step.backfill));
      case "snapshot": {
        const { snapshot, at } = step;
        const identity = this.identities.answerSnapshot(snapshot);
        this.identities.rememberSnapshot(snapshot);
        return resultOf(this.fold({ type: "snapshot", snapshot, receivedAt: at, identity, policy: this.#policy }));
      }
      case "tick": {
        const verdicts = this.liveness.expire(step.at);
        const folded = verdicts.map((input) => ({ input, result: this.fold(input) }));
        const refused = folded.filter(({ result }) => result.status !== "applied");
        if (refused.length > 0) throw new Error(`a verdict on current records was refused: ${JSON.stringify(refused)}`);
        return {
          diagnostics: [],
          audit: [],
          stale: folded.map(({ input }) => JSON.stringify([input.source, input.childId])).toSorted(),
        };
      }
      case "reconciliation":
        return resultOf(this.fold(step));
      case "resumed":
        return resultOf(this.fold(step));
    }
  }

  /** A live or backfilled event as a receiver hands it over; received when it was observed unless said otherwise. */
  takeEvent(event: LifecycleEvent, receivedAt: number = timeOf(event.observedAt), backfill = false): FoldResult {
    const identity = this.identities.answer(this.child(event.source, event.childId), event);
    const result = this.fold({ type: "event", event, receivedAt, backfill, identity });
    this.identities.remember(event, result);
    return result;
  }

  fold(input: ProjectionInput): FoldResult {
    this.inputs.push(deepFreeze(input));
    const result = fold(this.projection, input);
    for (const change of result.changes) {
      deepFreeze(change.after);
      this.liveness.observe(change);
    }
    return result;
  }

  child(source: string, childId: string): ChildRecord | undefined {
    return childOf(this.projection, source, childId);
  }

  records(): readonly ChildRecord[] {
    return [...childrenOf(this.projection)].toSorted((first, second) => first.key - second.key);
  }

  serialized(): readonly string[] {
    return [...serializeProjection(this.projection)];
  }
}

/** The members of a record that the plain projection works out too. */
export function describeRecord(record: ChildRecord): Readonly<Record<string, unknown>> {
  return {
    source: record.source,
    childId: record.childId,
    lineage: record.lineage,
    capabilities: Object.entries(record.capabilities)
      .flatMap(([name, knowledge]) => (knowledge === "known" ? [name] : []))
      .toSorted(),
    state: record.state,
    stateAt: record.stateAt,
    terminalEvidence: record.terminalEvidence,
    activity: record.activity,
    activityAt: record.activityAt,
    heartbeatAt: record.heartbeatAt,
    firstObservedAt: record.firstObservedAt,
    lastObservedAt: record.lastObservedAt,
    lastEvidenceAt: record.lastEvidenceAt,
    lastProgressAt: record.lastProgressAt,
    silentSince: record.silentSince,
    epoch: record.epoch,
    highestSequence: record.highestSequence,
    gaps: record.gaps,
    provisional: isProvisional(record),
    history: record.history,
    stale: record.stale,
    reconciliation: record.reconciliation,
    misses: record.misses,
    conflicts: record.conflicts,
    corrections: record.corrections,
    outOfOrder: record.outOfOrder,
    lateEvidence: record.lateEvidence,
  };
}

function resultOf(result: FoldResult): StepResult {
  return {
    status: result.status,
    diagnostics: result.diagnostics.map(({ code }) => code),
    audit: result.audit.map(({ childId, from, to }) => ({ childId, from, to })),
    stale: [],
  };
}

function timeOf(text: string): number {
  const time = parseTimestamp(text);
  if (time === undefined) throw new Error(`not a time: ${text}`);
  return time;
}
