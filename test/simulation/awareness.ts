import type { Store, StoredInput } from "@agent-lifecycle/collector/parts";
import type { ChildRecord, SnapshotInput } from "@agent-lifecycle/collector/projection";
import { canonicalEvent, isTerminal, type LifecycleEvent, type State } from "@agent-lifecycle/proto";
import { TEST_POLICY } from "../kit/core-run.ts";
import type { SimulatedAuthority } from "./simulated-authority.ts";
import { CHECK_INTERVAL_MS } from "./simulated-collector.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";

/** A judge's tolerance: a look comes once a second, and an absence of less than two is none. */
const TOLERANCE_MS = 2 * CHECK_INTERVAL_MS + 2_000;

/** By then a silence has been noticed: a judge's tolerance, and the short absences that are none. */
const NOTICED_AFTER_MS = TOLERANCE_MS + 10_000;

interface Known {
  readonly hasState: boolean;
  /** True time at which evidence of it was last stored, or the collector last came back. */
  heardAt: number;
  staleAt: number | undefined;
  /** The newest evidence by the record, an authority's included, and when that was first seen there. */
  evidenceAt?: number;
  refreshedAt?: number;
  /** When the question that is open now arose. */
  questionAt?: number | undefined;
  questionDeadline?: number | undefined;
}

/**
 * What a perfect observer knows who sees the true time: since when the collector has been awake and able to store, and
 * when it last heard of each child. By this, and not by the collector's own clocks, its verdicts are judged.
 */
export class Awareness {
  readonly counts = { lost: 0, stale: 0, corrected: 0, lostByAuthority: 0 };
  /** The newest input in which each event was stored, also those that retention has removed since. */
  readonly #stored = new Map<string, number>();
  readonly #machine: SimulatedMachine;
  readonly #known = new Map<string, Known>();
  /** How each child ended, and by which input. */
  readonly #ends = new Map<string, { readonly state: State; readonly inputId: number }>();
  #awakeSince = 0;
  /** The furthest that the wall clock ever was, and when it was last behind that, or set. */
  #furthestWall = 0;
  #misledUntil = 0;
  #seenInputId = 0;
  #wasReceiving = true;
  #resumedAt = 0;
  readonly #authority: SimulatedAuthority | undefined;

  constructor(machine: SimulatedMachine, authority: SimulatedAuthority | undefined) {
    this.#machine = machine;
    this.#authority = authority;
  }

  /** The collector has not heard anything until now, for whatever reason. */
  away(): void {
    this.#awakeSince = this.#machine.now;
  }

  /** The collector takes it for an absence, and gives everybody the time anew. It excuses no verdict that comes too early. */
  clockSet(): void {
    this.#misledUntil = this.#machine.now;
  }

  /**
   * Judges what was stored since the last look.
   * @param records of the children of this world, as the collector has them now
   */
  look(store: Store, isReceiving: boolean, records: readonly ChildRecord[]): readonly string[] {
    if (!isReceiving || !this.#wasReceiving) this.away();
    this.#wasReceiving = isReceiving;
    const violations: string[] = [];
    for (const stored of store.inputs(this.#seenInputId)) {
      if (stored.inputId !== this.#seenInputId + 1) violations.push(`${stored.inputId} follows ${this.#seenInputId}`);
      this.#seenInputId = stored.inputId;
      violations.push(...this.#judgeOnce(store, stored), ...this.#judge(store, stored));
    }
    for (const record of records) this.#note(record);
    return isReceiving ? [...violations, ...this.#unnoticed()] : violations;
  }

  /**
   * Nobody stays fresh in a silence that the collector was there to hear. Told once of each. Evidence from before a clock
   * was set back lies in its future, and does not age until that is over (S1).
   */
  #unnoticed(): readonly string[] {
    const wall = this.#machine.wallNow();
    if (wall < this.#furthestWall) this.#misledUntil = this.#machine.now;
    this.#furthestWall = Math.max(this.#furthestWall, wall);
    const hearsSince = Math.max(this.#awakeSince, this.#misledUntil);
    const violations: string[] = [];
    for (const [key, known] of this.#known) {
      if (!known.hasState || known.staleAt !== undefined || this.#ends.has(key)) continue;
      const silenceMs = this.#machine.now - Math.max(known.heardAt, known.refreshedAt ?? 0, hearsSince);
      if (silenceMs < TEST_POLICY.staleAfterMs + NOTICED_AFTER_MS) continue;
      this.#known.set(key, { ...known, staleAt: this.#machine.now });
      violations.push(`${key} is not stale after a silence of ${silenceMs} ms`);
    }
    return violations;
  }

  /** Who became stale by a snapshot, and since when somebody is asked about whom. */
  #note({ source, childId, state, stale, reconciliation, lastEvidenceAt }: ChildRecord): void {
    const key = JSON.stringify([source, childId]);
    const known: Known = this.#known.get(key) ?? { hasState: false, heardAt: 0, staleAt: undefined };
    const { now } = this.#machine;
    this.#known.set(key, {
      ...known,
      hasState: state !== undefined,
      evidenceAt: lastEvidenceAt,
      refreshedAt: known.evidenceAt === lastEvidenceAt ? (known.refreshedAt ?? now) : now,
      staleAt: stale === undefined ? undefined : (known.staleAt ?? now),
      questionAt: known.questionDeadline === reconciliation?.deadline ? known.questionAt : now,
      questionDeadline: reconciliation?.deadline,
    });
  }

  hasStored(event: LifecycleEvent): boolean {
    return this.#stored.has(canonicalEvent(event));
  }

  /** How a child ended, as far as the log ever said. */
  endOf(source: string, childId: string): State | undefined {
    return this.#ends.get(JSON.stringify([source, childId]))?.state;
  }

  /** An event is stored once. One that is sent again after the first was removed cannot be recognized any more. */
  #judgeOnce(store: Store, { input, inputId }: StoredInput): readonly string[] {
    if (input.type !== "event") return [];
    if (!Number.isFinite(input.receivedAt)) return [`input ${inputId} was received at no time`];
    const content = canonicalEvent(input.event);
    const before = this.#stored.get(content);
    this.#stored.set(content, inputId);
    if (before === undefined || before <= store.loadBase().inputId) return [];
    return [`an event was stored twice, as input ${before} and as input ${inputId}`];
  }

  #judge(store: Store, { input, status, inputId }: StoredInput): readonly string[] {
    const { now } = this.#machine;
    switch (input.type) {
      case "event": {
        const { source, childId, state } = input.event;
        const key = JSON.stringify([source, childId]);
        const isEvidence = status === "applied" || status === "provisional" || status === "gap_filled";
        if (isEvidence) {
          const hasState = state !== undefined || this.#known.get(key)?.hasState === true;
          this.#known.set(key, { ...this.#known.get(key), hasState, heardAt: now, staleAt: undefined });
        }
        if (isEvidence && state !== undefined && isTerminal(state)) {
          return this.#end(store, key, state, inputId);
        }
        return [];
      }
      case "stale": {
        const key = JSON.stringify([input.source, input.childId]);
        this.counts.stale += 1;
        const known = this.#known.get(key);
        const silenceMs = now - Math.max(known?.heardAt ?? 0, this.#awakeSince);
        this.#known.set(key, { ...known, hasState: true, heardAt: known?.heardAt ?? 0, staleAt: now });
        if (silenceMs >= TEST_POLICY.staleAfterMs - TOLERANCE_MS) return [];
        return [`${key} became stale after ${silenceMs} ms in which it could have been heard (input ${inputId})`];
      }
      case "reconciliation": {
        if (input.outcome !== "failed" || status !== "applied") return [];
        const key = JSON.stringify([input.source, input.childId]);
        this.counts.lost += 1;
        const staleAt = this.#known.get(key)?.staleAt;
        const violations = [...this.#end(store, key, "lost", inputId), ...this.#judgeLoss(key, input, inputId)];
        if (staleAt === undefined)
          return [...violations, `${key} was lost without having been stale (input ${inputId})`];
        const askedMs = now - Math.max(staleAt, this.#awakeSince);
        if (askedMs >= TEST_POLICY.reconcileDeadlineMs - TOLERANCE_MS) return violations;
        return [...violations, `${key} was lost ${askedMs} ms after it could answer (input ${inputId})`];
      }
      case "snapshot":
        return this.#judgeSnapshot(store, input, inputId);
      case "resumed":
        this.#resumedAt = now;
        return [];
    }
  }

  /** Nobody is lost whom the authority names, nor whom it does not speak about, once it has answered. */
  #judgeLoss(
    key: string,
    lost: { readonly source: string; readonly childId: string },
    inputId: number,
  ): readonly string[] {
    const { source, heard } = this.#authority ?? {};
    if (lost.source !== source) return [];
    this.counts.lostByAuthority += 1;
    const questionAt = Math.max(this.#known.get(key)?.questionAt ?? 0, this.#resumedAt);
    if (heard === undefined || heard.askedAt <= questionAt) return [];
    const { complete, coverage, children } = heard.snapshot;
    if (children.some(({ childId }) => childId === lost.childId)) {
      return [`${key} was lost while its authority named it (input ${inputId})`];
    }
    return complete && coverage === "all"
      ? []
      : [`${key} was lost by an answer that proves nothing (input ${inputId})`];
  }

  #judgeSnapshot(store: Store, { snapshot }: SnapshotInput, inputId: number): readonly string[] {
    if (!this.#authority?.said.has(snapshot.snapshotId)) return [`nobody said input ${inputId}`];
    const corrections = store
      .audit({ afterInputId: inputId - 1, limit: 100 })
      .filter((entry) => entry.inputId === inputId);
    return corrections.flatMap(({ entry }) => {
      if (entry.reason !== "authoritative_snapshot") return [];
      this.counts.corrected += 1;
      const key = JSON.stringify([entry.source, entry.childId]);
      return isTerminal(entry.to) ? this.#end(store, key, entry.to, inputId) : [];
    });
  }

  /** An end is one for good, for as long as anything is stored that says so. */
  #end(store: Store, key: string, state: State, inputId: number): readonly string[] {
    const ended = this.#ends.get(key);
    this.#ends.set(key, { state, inputId });
    if (ended === undefined || ended.inputId <= store.loadBase().inputId) return [];
    return [`${key} ended as ${ended.state} and then as ${state} (input ${inputId})`];
  }
}
