import type { LifecycleEvent } from "@agent-lifecycle/proto";
import type {
  Adapter,
  AdapterDiagnosticCode,
  AdapterResult,
  AdapterState,
  EventDelivery,
  StreamEnd,
} from "@agent-lifecycle/sdk/adapters";

export interface IngestionSettings {
  readonly adapter: Adapter;
  readonly state: AdapterState;
  readonly delivery: EventDelivery;
  /** Told of every objection. */
  readonly onProblem: (problem: IngestionProblem) => void;
}

export interface IngestionProblem {
  readonly code: AdapterDiagnosticCode | "malformed" | "oversize" | "truncated";
  readonly text: string;
  readonly childId?: string;
}

/** Inputs that are mapped to events one after the other, and delivered. */
export class Ingestion {
  readonly #settings: IngestionSettings;
  #state: AdapterState;
  /** Mapped, and not yet handed to the delivery. */
  #pending: LifecycleEvent[] = [];
  #inputs = 0;
  #events = 0;

  constructor(settings: IngestionSettings) {
    this.#settings = settings;
    this.#state = settings.state;
  }

  get state(): AdapterState {
    return this.#state;
  }

  get pending(): readonly LifecycleEvent[] {
    return this.#pending;
  }

  get inputs(): number {
    return this.#inputs;
  }

  get events(): number {
    return this.#events;
  }

  take(value: unknown, observedAtMs: number): void {
    this.#inputs += 1;
    this.#apply(this.#settings.adapter.map(this.#state, { value, observedAtMs }));
  }

  end(end: StreamEnd): void {
    this.#apply(this.#settings.adapter.end(this.#state, end));
  }

  /** Events of an earlier run whose delivery is not certain. What arrived is known by its identity. */
  repeat(events: readonly LifecycleEvent[]): void {
    this.#pending.push(...events);
  }

  /** Hands everything over without waiting. */
  handOver(): void {
    for (const event of this.#pending) this.#settings.delivery.deliver(event);
    this.#pending = [];
  }

  #apply({ state, events, diagnostics }: AdapterResult): void {
    this.#state = state;
    this.#events += events.length;
    for (const event of events) this.#pending.push(event);
    for (const diagnostic of diagnostics) this.#settings.onProblem(diagnostic);
  }
}
