import type { EventsIntake, Refusal, SnapshotIntake } from "@agent-lifecycle/collector";
import { type ChildRecord, childOf, childrenOf } from "@agent-lifecycle/collector/projection";
import {
  type Diagnostic,
  type LifecycleEvent,
  type LifecycleSnapshot,
  normalizeEvent,
  normalizeSnapshot,
} from "@agent-lifecycle/proto";
import { CoreRun } from "../../../kit/core-run.ts";

/** A door that keeps what it is given and folds it with the real core, in the order of its arrival. */
export class FoldingIntake {
  readonly run: CoreRun = new CoreRun();
  readonly events: {
    readonly event: LifecycleEvent;
    readonly status: string | undefined;
    readonly backfill: boolean;
  }[] = [];
  readonly snapshots: { readonly snapshot: LifecycleSnapshot; readonly diagnostics: readonly string[] }[] = [];
  readonly problems: Diagnostic[] = [];
  /** Taken one by one by the next calls. */
  readonly refusals: Refusal[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  acceptEvents = async (
    candidates: readonly unknown[],
    { backfill }: { readonly backfill: boolean },
  ): Promise<EventsIntake> => {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return refusal;
    const outcomes = candidates.map((candidate) => {
      const normalized = normalizeEvent(candidate);
      if (!normalized.ok) throw new Error(`an invalid candidate: ${JSON.stringify(normalized.diagnostic)}`);
      const { event } = normalized;
      const { status } = this.run.take({ type: "event", event, at: this.#now(), backfill });
      this.events.push({ event, status, backfill });
      return { status: status ?? "applied", diagnostics: normalized.diagnostics };
    });
    return { kind: "stored", outcomes };
  };

  acceptSnapshot = async (candidate: unknown): Promise<SnapshotIntake> => {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return refusal;
    const normalized = normalizeSnapshot(candidate);
    if (!normalized.ok) throw new Error(`an invalid snapshot: ${JSON.stringify(normalized.diagnostic)}`);
    const { diagnostics } = this.run.take({ type: "snapshot", snapshot: normalized.snapshot, at: this.#now() });
    this.snapshots.push({ snapshot: normalized.snapshot, diagnostics });
    return { kind: "stored", status: "applied", diagnostics: [], corrected: 0, stale: [] };
  };

  countForeign = (): void => {};

  reportProblem = (problem: Diagnostic): void => {
    this.problems.push(problem);
  };

  child(childId: string, source = "hermes"): ChildRecord {
    const record = childOf(this.run.projection, source, childId);
    if (record === undefined) throw new Error(`no child ${childId}`);
    return record;
  }

  /** Every child with its state, by id. */
  get states(): Readonly<Record<string, string | undefined>> {
    const records = [...childrenOf(this.run.projection)];
    return Object.fromEntries(records.map(({ childId, state }) => [childId, state]).toSorted());
  }

  statesReported(childId: string): readonly string[] {
    return this.events.filter(({ event }) => event.childId === childId).map(({ event }) => event.state ?? event.kind);
  }
}
