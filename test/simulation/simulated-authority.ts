import type { SnapshotSource } from "@agent-lifecycle/collector";
import { AskedAuthority, type AskingOutcome, PushAuthority } from "@agent-lifecycle/collector/parts";
import { isTerminal, type LifecycleSnapshot, type State } from "@agent-lifecycle/proto";
import { makeSnapshot } from "../kit/events.ts";
import type { SeededRandom } from "../kit/seeded-random.ts";
import type { MakeAuthorities, SimulatedCollector } from "./simulated-collector.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import type { TrueChild } from "./true-children.ts";

/** What is wrong with an authority for a while. */
const FAULTS = ["unreachable", "hangs", "lags", "incomplete", "blind", "repeats"] as const;

type Mode = "well" | (typeof FAULTS)[number];

/** Longer than a child may be silent: what it says can be older than that. */
const MAX_LAG_MS = 250_000;
const MAX_DELAY_MS = 3_000;
const PUSH_INTERVAL_MS = 8_000;
const TIMEOUT_MS = 4_000;
const POLICY = { intervalMs: 10_000, pauseMs: 500, retryMs: 1_000, maxRetryMs: 5_000 };

/** A statement on its way, and what the true world knows of it. */
export interface Said {
  readonly snapshot: LifecycleSnapshot;
  /** True time at which somebody asked for it; for one that is pushed, when it was sent. */
  readonly askedAt: number;
}

/**
 * Knows all children of one source, and says so when it is asked, or by itself. For a while it cannot be reached, answers
 * late, with an old or an incomplete view, overlooks children, or repeats itself; when its source is restarted, it knows
 * nobody of before and speaks in a new epoch.
 */
export class SimulatedAuthority implements SnapshotSource {
  readonly source: string;
  readonly kind: "asked" | "pushed";
  mode: Mode = "well";
  /** What it said, by the identifiers of its statements. */
  readonly said = new Map<string, Said>();
  /** The newest statement that the collector took for an answer. */
  heard: Said | undefined;
  readonly #machine: SimulatedMachine;
  readonly #random: SeededRandom;
  readonly #children: readonly TrueChild[];
  readonly #restartAt: number;
  /** Ended children are named until they are forgotten, or not at all. */
  readonly #namesEnded: boolean;
  #looks = 0;
  #last: LifecycleSnapshot | undefined;

  constructor(
    machine: SimulatedMachine,
    random: SeededRandom,
    source: string,
    children: readonly TrueChild[],
    restartAt: number,
  ) {
    this.source = source;
    this.kind = random.pick(["asked", "asked", "pushed"]);
    this.#machine = machine;
    this.#random = random;
    this.#children = children;
    this.#restartAt = restartAt;
    this.#namesEnded = random.next() < 0.5;
  }

  async start(): Promise<void> {}

  async shutdown(): Promise<void> {}

  /** It fails in some way, and is well again later. */
  fail(forMs: number): void {
    this.mode = this.#random.pick([...FAULTS]);
    this.#machine.schedule(() => {
      this.mode = "well";
    }, forMs);
  }

  async fetch(signal: AbortSignal): Promise<unknown> {
    const askedAt = this.#machine.now;
    const { mode } = this;
    if (mode === "unreachable") throw new Error("connection refused");
    if (mode === "hangs") {
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("given up"))));
    }
    const snapshot = this.#look(mode, askedAt);
    const delayMs = this.#random.below(MAX_DELAY_MS);
    await new Promise<void>((resolve) => this.#machine.schedule(resolve, delayMs));
    return JSON.parse(JSON.stringify(snapshot)) as unknown;
  }

  /** Sends a statement at its pace, for as long as the world lasts. */
  pushTo(collector: SimulatedCollector): void {
    const { mode } = this;
    if (mode !== "unreachable" && mode !== "hangs") {
      const candidate: unknown = JSON.parse(JSON.stringify(this.#look(mode, this.#machine.now)));
      void collector.running?.door.acceptSnapshot(candidate, { receiver: "push", backfill: false, bytes: 100 });
    }
    this.#machine.schedule(() => this.pushTo(collector), PUSH_INTERVAL_MS);
  }

  /** The children that it names when it is well. */
  listed(at: number = this.#machine.now): readonly { readonly childId: string; readonly state: State }[] {
    return this.#children.flatMap(({ childId, reports }) => {
      // Whoever runs the source knows a child from its beginning: before anybody is told of it.
      const state = reports.findLast((report) => report.at <= at && report.event.state !== undefined)?.event.state;
      if (state === undefined || this.#isGone(reports.at(0)?.at ?? 0, at)) return [];
      return isTerminal(state) && !this.#namesEnded ? [] : [{ childId, state }];
    });
  }

  /** A child that began before a restart is gone with it. */
  #isGone(begunAt: number, at: number): boolean {
    return begunAt < this.#restartAt && at >= this.#restartAt;
  }

  #look(mode: Mode, askedAt: number): LifecycleSnapshot {
    if (mode === "repeats" && this.#last !== undefined) {
      this.said.set(this.#last.snapshotId, { snapshot: this.#last, askedAt });
      return this.#last;
    }
    this.#looks += 1;
    const at = mode === "lags" ? Math.max(0, askedAt - this.#random.below(MAX_LAG_MS)) : askedAt;
    const all = this.listed(at);
    const children = mode === "blind" || mode === "incomplete" ? all.filter(() => this.#random.next() < 0.5) : all;
    const snapshot = makeSnapshot({
      source: this.source,
      sourceEpoch: at >= this.#restartAt ? "epoch-2" : "epoch-1",
      snapshotId: `look ${this.#looks}`,
      at,
      complete: mode !== "incomplete",
      children,
    });
    this.#last = snapshot;
    this.said.set(snapshot.snapshotId, { snapshot, askedAt });
    return snapshot;
  }

  /** Makes the collector's side of it, anew for every process. */
  readonly make: MakeAuthorities = ({ intake, clock, schedule }) => {
    const identity = { id: `${this.kind}/authority`, kind: this.kind, supportLevel: "experimental" as const };
    const onOutcome = (outcome: AskingOutcome): void => {
      const said = this.said.get(this.#last?.snapshotId ?? "");
      if (outcome !== "answered" || said === undefined) return;
      this.heard = this.kind === "pushed" ? { ...said, askedAt: this.#machine.now } : said;
    };
    if (this.kind === "pushed") {
      const { source } = this;
      return [
        new PushAuthority({ ...identity, source, receiver: "push", clock, intervalMs: PUSH_INTERVAL_MS, onOutcome }),
      ];
    }
    const random = (): number => this.#random.next();
    const asked = { snapshotSource: this, intake, clock, policy: POLICY, timeoutMs: TIMEOUT_MS, onOutcome };
    return [new AskedAuthority({ ...identity, ...asked, random, schedule })];
  };
}
