import { isTerminal, type State } from "@agent-lifecycle/proto";
import { SeededRandom } from "../kit/seeded-random.ts";
import { Awareness } from "./awareness.ts";
import { checkLog } from "./log-laws.ts";
import type { Sabotage } from "./sabotage.ts";
import { SimulatedAuthority } from "./simulated-authority.ts";
import { SimulatedCollector } from "./simulated-collector.ts";
import { SimulatedMachine } from "./simulated-machine.ts";
import { SimulatedNetwork } from "./simulated-network.ts";
import { childOf, type TrueChild } from "./true-children.ts";

/** What came of one simulated world. */
export interface SimulationReport {
  /** Empty when every law held. */
  readonly violations: readonly string[];
  /** The newest things that happened, oldest first. */
  readonly trace: readonly string[];
  readonly counts: {
    readonly events: number;
    readonly crashes: number;
    readonly outages: number;
    readonly lost: number;
    readonly stale: number;
    readonly corrected: number;
    readonly lostByAuthority: number;
  };
}

const AUTHORITY_TROUBLE = ["authority", "authority", "authority"] as const;
const FIRST_SOURCE = "source-0";
const ONE_HOUR_MS = 3_600_000;
const MAX_TRACE = 60;
/** Longer than any life, with time for what is late. */
const ACTIVE_MS = 300_000;
const SETTLING_MS = 120_000;
const SHORTEST_ABSENCE_MS = 3_000;

/**
 * One world, made up from its seed: children live, their reports travel through a bad network to a collector that
 * crashes, is suspended, stalls, cannot write and has its clock set. Then everything heals, and what the collector says
 * is held against what really happened.
 * @param sabotage breaks a law on purpose
 */
export async function simulate(seed: number, sabotage: Sabotage = {}): Promise<SimulationReport> {
  const world = new World(seed, sabotage);
  try {
    return await world.run();
  } finally {
    world.collector.dispose();
  }
}

class World {
  readonly random: SeededRandom;
  readonly machine = new SimulatedMachine();
  /** How long inputs are kept; `undefined`: for ever. */
  readonly maxAgeMs: number | undefined;
  readonly collector: SimulatedCollector;
  readonly network: SimulatedNetwork;
  readonly awareness: Awareness;
  readonly children: readonly TrueChild[];
  /** Of the first source; `undefined`: it has none. */
  readonly authority: SimulatedAuthority | undefined;
  readonly trace: string[] = [];
  readonly violations: string[] = [];
  crashes = 0;
  outages = 0;
  #isOut = false;

  constructor(seed: number, sabotage: Sabotage) {
    this.random = new SeededRandom(seed);
    this.maxAgeMs = this.random.pick([undefined, 20_000, 100_000]);
    const hasAuthority = this.random.next() < 0.6;
    const restartAt = hasAuthority && this.random.next() < 0.4 ? 20_000 + this.random.below(150_000) : Infinity;
    this.children = Array.from({ length: 2 + this.random.below(5) }, (_, index) =>
      childOf(this.random, index, hasAuthority ? { source: FIRST_SOURCE, restartAt } : undefined),
    );
    const ofAuthority = this.children.filter(({ source }) => source === FIRST_SOURCE);
    this.authority = hasAuthority
      ? new SimulatedAuthority(this.machine, this.random, FIRST_SOURCE, ofAuthority, restartAt)
      : undefined;
    this.collector = new SimulatedCollector(this.machine, this.maxAgeMs, this.authority?.make, sabotage);
    this.awareness = new Awareness(this.machine, this.authority);
    this.network = new SimulatedNetwork(this.machine, this.collector, this.random, {
      lossRate: this.random.pick([0, 0.05, 0.3]),
      duplicationRate: this.random.pick([0, 0.2]),
      maxDelayMs: this.random.pick([0, 500, 8_000]),
    });
    this.network.answersTooSoon = sabotage.answersTooSoon === true;
  }

  async run(): Promise<SimulationReport> {
    this.#start();
    for (const child of this.children) this.#live(child);
    this.#planTrouble();
    if (this.authority?.kind === "pushed") this.authority.pushTo(this.collector);
    await this.#until(ACTIVE_MS);
    this.network.faults = { lossRate: 0, duplicationRate: 0, maxDelayMs: 0 };
    this.#endOutage();
    if (this.authority !== undefined) this.authority.mode = "well";
    if (this.collector.running === undefined) this.#start();
    await this.#until(this.machine.now + SETTLING_MS);
    this.#judge();
    const counts = {
      events: this.network.sent.size,
      crashes: this.crashes,
      outages: this.outages,
      ...this.awareness.counts,
    };
    return { violations: this.violations, trace: this.trace, counts };
  }

  /** Every step is followed by all that it sets off in the program before the next one. */
  async #until(time: number): Promise<void> {
    await this.#settle();
    while (this.machine.step(time)) await this.#settle();
    await this.#settle();
  }

  async #settle(): Promise<void> {
    // Answers come by promises, commits by the event loop: two turns of it see both through.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const running = this.collector.running;
    if (running !== undefined) {
      for (const error of running.errors.splice(0)) this.#note(`error: ${String(error)}`);
      const records = this.children.flatMap(({ source, childId }) => running.state.child(source, childId) ?? []);
      this.violations.push(...this.awareness.look(this.collector.store, this.#isReceiving, records));
    }
  }

  get #isReceiving(): boolean {
    // An outage that nobody ran into kept nobody from being heard.
    return this.collector.running?.writer.unavailable === undefined;
  }

  #live({ reports, childId }: TrueChild): void {
    for (let index = 0; index < reports.length; ) {
      const batch = reports.slice(index, index + 1 + this.random.below(3));
      index += batch.length;
      const sentAt = batch.at(-1)?.at ?? 0;
      this.machine.schedule(() => {
        this.#note(
          `${childId} sends ${batch.map(({ event }) => `${event.sourceEpoch}#${event.sequence} ${event.state ?? event.kind}`).join(", ")}`,
        );
        this.network.send(batch.map(({ event }) => event));
      }, sentAt);
    }
  }

  #planTrouble(): void {
    const troubles = this.random.below(7);
    for (let trouble = 0; trouble < troubles; trouble += 1) {
      const at = this.random.below(ACTIVE_MS);
      const kind = this.random.pick([
        "crash",
        "crash",
        "stop",
        "outage",
        "suspend",
        "stall",
        "clock",
        ...AUTHORITY_TROUBLE,
      ]);
      // With a clock that was set back, what ended lately can look older than what retention removed.
      if (kind === "clock" && this.maxAgeMs !== undefined) continue;
      this.machine.schedule(() => this.#cause(kind), at);
    }
  }

  #cause(kind: string): void {
    this.#note(kind);
    switch (kind) {
      case "crash":
        this.#crash();
        this.machine.schedule(() => this.#start(), this.random.below(100_000));
        return;
      case "stop": {
        const { running } = this.collector;
        if (running === undefined) return;
        void this.collector.stop().then(() => this.awareness.away());
        this.machine.schedule(() => this.#start(), 1 + this.random.below(100_000));
        return;
      }
      case "outage":
        this.outages += 1;
        this.#isOut = true;
        this.collector.faults.breakDown(this.random.pick(["begin", "append", "commit"]));
        this.machine.schedule(() => this.#endOutage(), this.random.below(150_000));
        return;
      case "suspend":
        this.#standStill(this.random.below(ONE_HOUR_MS), this.random.next() < 0.5);
        return;
      case "stall":
        this.#standStill(this.random.below(150_000), false);
        return;
      case "authority":
        this.authority?.fail(this.random.below(200_000));
        return;
      case "clock":
        this.machine.setWall((this.random.next() < 0.5 ? 1 : -1) * this.random.below(ONE_HOUR_MS));
        this.awareness.clockSet();
        return;
    }
  }

  #standStill(ms: number, isMonotonicFrozen: boolean): void {
    this.machine.suspend(ms, { isMonotonicFrozen });
    // Shorter than a look is late on a busy machine: no absence.
    if (ms > SHORTEST_ABSENCE_MS) this.awareness.away();
  }

  #start(): void {
    if (this.collector.running !== undefined) return;
    this.#note("start");
    this.collector.start();
    this.awareness.away();
  }

  #crash(): void {
    if (this.collector.running === undefined) return;
    this.crashes += 1;
    this.collector.crash();
    this.awareness.away();
  }

  #endOutage(): void {
    if (!this.#isOut) return;
    this.#note("the store works again");
    this.#isOut = false;
    this.collector.faults.repair();
  }

  #judge(): void {
    const { running, store } = this.collector;
    const state = running?.state;
    if (running === undefined || state === undefined) throw new Error("the collector is down at the end");
    if (this.network.isBusy) this.violations.push("a sender was never told that its events are stored");
    running.writer.checkpoint();
    const verification = this.collector.verify();
    if (!verification.agrees) this.violations.push(`the replay differs: ${JSON.stringify(verification)}`);
    this.violations.push(...checkLog(store, this.awareness, this.network.sent, this.network.acknowledged));
    const { summary } = state;
    const ended = summary.byState.completed + summary.byState.failed + summary.byState.cancelled + summary.byState.lost;
    if (summary.started !== summary.live + ended) this.violations.push("the counts do not add up");
    for (const child of this.children) this.#judgeChild(child, state);
  }

  /** Once everything was delivered, the collector knows how it really ended, unless it had to give the child up before. */
  #judgeChild(
    { source, childId, state: truth, reports }: TrueChild,
    state: {
      child(
        source: string,
        childId: string,
      ): { readonly state: string | undefined; readonly gaps: readonly unknown[] } | undefined;
    },
  ): void {
    const record = state.child(source, childId);
    // One that was lost and let go and then spoke again is a new one, of which only the rest is known.
    if (this.awareness.endOf(source, childId) === "lost" && this.maxAgeMs !== undefined) return;
    // Of a child that reports only what is older than all that is stored, nobody can say what became of it.
    if (reports.some(({ event }) => !this.awareness.hasStored(event)) && this.maxAgeMs !== undefined) return;
    if (record === undefined && this.maxAgeMs !== undefined) {
      const end = this.awareness.endOf(source, childId);
      if (end !== truth && end !== "lost") this.violations.push(`${childId} was let go as ${end}; it was ${truth}`);
      return;
    }
    if (record?.state === undefined) {
      this.violations.push(`${childId} is not known`);
      return;
    }
    if (record.state === "lost") return;
    if (source === this.authority?.source && !isTerminal(record.state as State)) {
      const isListed = this.authority.listed().some((listed) => listed.childId === childId);
      if (!isListed) this.violations.push(`${childId} is ${record.state}, and its authority said it is gone`);
    }
    if (record.state !== truth) this.violations.push(`${childId} is ${record.state}; it really was ${truth}`);
    const isOneEpoch = new Set(reports.map(({ event }) => event.sourceEpoch)).size === 1;
    if (isOneEpoch && record.gaps.length > 0) this.violations.push(`${childId} has gaps, and everything was delivered`);
  }

  #note(text: string): void {
    this.trace.push(`${(this.machine.now / 1000).toFixed(3)} ${text}`);
    if (this.trace.length > MAX_TRACE) this.trace.shift();
  }
}
