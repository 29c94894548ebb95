import type { EventOutcome } from "@agent-lifecycle/collector";
import { canonicalEvent, type LifecycleEvent } from "@agent-lifecycle/proto";
import type { SeededRandom } from "../kit/seeded-random.ts";
import type { SimulatedCollector } from "./simulated-collector.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";

export interface NetworkFaults {
  /** Of requests and of answers, each. */
  readonly lossRate: number;
  /** Of requests. */
  readonly duplicationRate: number;
  /** Milliseconds, at most. */
  readonly maxDelayMs: number;
}

/** One batch on its way, until it is acknowledged. */
interface Shipment {
  readonly events: readonly LifecycleEvent[];
  readonly candidates: readonly unknown[];
  isAcknowledged: boolean;
}

const RESEND_AFTER_MS = 4_000;

/**
 * Everything between producers and the collector. It loses, repeats and delays requests and answers; senders send again
 * until they are told that it is stored, as OTLP clients do.
 */
export class SimulatedNetwork {
  /** Events whose sender was told that they are stored. */
  readonly acknowledged = new Set<LifecycleEvent>();
  readonly sent = new Set<LifecycleEvent>();
  #unacknowledged = 0;
  faults: NetworkFaults;
  /** Senders are told that it is stored as soon as it has arrived. */
  answersTooSoon = false;
  readonly #machine: SimulatedMachine;
  readonly #collector: SimulatedCollector;
  readonly #random: SeededRandom;

  constructor(machine: SimulatedMachine, collector: SimulatedCollector, random: SeededRandom, faults: NetworkFaults) {
    this.#machine = machine;
    this.#collector = collector;
    this.#random = random;
    this.faults = faults;
  }

  /** Whether senders still wait for an answer. */
  get isBusy(): boolean {
    return this.#unacknowledged > 0;
  }

  send(events: readonly LifecycleEvent[]): void {
    const candidates = events.map((event) => JSON.parse(canonicalEvent(event)) as unknown);
    this.#unacknowledged += 1;
    for (const event of events) this.sent.add(event);
    this.#attempt({ events, candidates, isAcknowledged: false });
  }

  #attempt(shipment: Shipment): void {
    if (shipment.isAcknowledged) return;
    const copies = this.#random.next() < this.faults.duplicationRate ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      if (this.#random.next() < this.faults.lossRate) continue;
      this.#machine.schedule(() => void this.#arrive(shipment), this.#random.below(this.faults.maxDelayMs + 1));
    }
    this.#machine.schedule(() => this.#attempt(shipment), RESEND_AFTER_MS + this.#random.below(500));
  }

  async #arrive(shipment: Shipment): Promise<void> {
    const running = this.#collector.running;
    if (running === undefined) return;
    const { candidates } = shipment;
    const answering = running.door.acceptEvents(candidates, { receiver: "network", backfill: false, bytes: 100 });
    if (this.answersTooSoon) {
      this.#acknowledge(shipment, shipment.events);
      return;
    }
    const answer = await answering;
    // An answer of a process that is gone never left it.
    if (answer.kind !== "stored" || this.#collector.running !== running) return;
    if (this.#random.next() < this.faults.lossRate) return;
    const kept = shipment.events.filter((_event, index) => !isRefused(answer.outcomes[index]));
    this.#machine.schedule(() => this.#acknowledge(shipment, kept), this.#random.below(this.faults.maxDelayMs + 1));
  }

  #acknowledge(shipment: Shipment, kept: readonly LifecycleEvent[]): void {
    if (shipment.isAcknowledged) return;
    shipment.isAcknowledged = true;
    this.#unacknowledged -= 1;
    for (const event of kept) this.acknowledged.add(event);
  }
}

/** Told to be refused, and why: the sender knows that nothing of it is kept. */
function isRefused(outcome: EventOutcome | undefined): boolean {
  return outcome === undefined || outcome.diagnostics.some(({ code }) => code === "beyond_retention");
}
