import type { Store, StoredInput } from "@agent-lifecycle/collector/parts";
import { isTerminal, type State } from "@agent-lifecycle/proto";
import { TEST_POLICY } from "../kit/core-run.ts";
import { CHECK_INTERVAL_MS } from "./simulated-collector.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";

/** A judge's tolerance: a look comes once a second, and an absence of less than two is none. */
const TOLERANCE_MS = 2 * CHECK_INTERVAL_MS + 2_000;

interface Known {
  /** True time at which evidence of it was last stored, or the collector last came back. */
  heardAt: number;
  staleAt: number | undefined;
}

/**
 * What a perfect observer knows who sees the true time: since when the collector has been awake and able to store, and
 * when it last heard of each child. By this, and not by the collector's own clocks, its verdicts are judged.
 */
export class Awareness {
  readonly counts = { lost: 0, stale: 0 };
  readonly #machine: SimulatedMachine;
  readonly #known = new Map<string, Known>();
  readonly #ends = new Map<string, State>();
  #awakeSince = 0;
  #seenInputId = 0;
  #wasReceiving = true;

  constructor(machine: SimulatedMachine) {
    this.#machine = machine;
  }

  /** The collector has not heard anything until now, for whatever reason. */
  away(): void {
    this.#awakeSince = this.#machine.now;
  }

  back(): void {
    this.away();
  }

  /** Judges what was stored since the last look. */
  look(store: Store, isReceiving: boolean): readonly string[] {
    if (!isReceiving || !this.#wasReceiving) this.away();
    this.#wasReceiving = isReceiving;
    const violations: string[] = [];
    for (const stored of store.inputs(this.#seenInputId)) {
      this.#seenInputId = stored.inputId;
      violations.push(...this.#judge(stored));
    }
    return violations;
  }

  #judge({ input, status, inputId }: StoredInput): readonly string[] {
    const { now } = this.#machine;
    switch (input.type) {
      case "event": {
        const { source, childId, state } = input.event;
        const key = JSON.stringify([source, childId]);
        const isEvidence = status === "applied" || status === "provisional" || status === "gap_filled";
        if (isEvidence) this.#known.set(key, { heardAt: now, staleAt: undefined });
        if (isEvidence && state !== undefined && isTerminal(state)) {
          return this.#end(key, state, inputId);
        }
        return [];
      }
      case "stale": {
        const key = JSON.stringify([input.source, input.childId]);
        this.counts.stale += 1;
        const silenceMs = now - Math.max(this.#known.get(key)?.heardAt ?? 0, this.#awakeSince);
        this.#known.set(key, { heardAt: this.#known.get(key)?.heardAt ?? 0, staleAt: now });
        if (silenceMs >= TEST_POLICY.staleAfterMs - TOLERANCE_MS) return [];
        return [`${key} became stale after ${silenceMs} ms in which it could have been heard (input ${inputId})`];
      }
      case "reconciliation": {
        if (input.outcome !== "failed" || status !== "applied") return [];
        const key = JSON.stringify([input.source, input.childId]);
        this.counts.lost += 1;
        const staleAt = this.#known.get(key)?.staleAt;
        const violations = [...this.#end(key, "lost", inputId)];
        if (staleAt === undefined)
          return [...violations, `${key} was lost without having been stale (input ${inputId})`];
        const askedMs = now - Math.max(staleAt, this.#awakeSince);
        if (askedMs >= TEST_POLICY.reconcileDeadlineMs - TOLERANCE_MS) return violations;
        return [...violations, `${key} was lost ${askedMs} ms after it could answer (input ${inputId})`];
      }
      default:
        return [];
    }
  }

  #end(key: string, state: State, inputId: number): readonly string[] {
    const ended = this.#ends.get(key);
    this.#ends.set(key, state);
    return ended === undefined ? [] : [`${key} ended as ${ended} and then as ${state} (input ${inputId})`];
  }
}
