import type { LifecycleEvent } from "@agent-lifecycle/proto";
import type { Clock } from "./clock.ts";
import type { DeliveryCounters } from "./counters.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { buildEvent, type ChildIdentity, type Observation } from "./event-builder.ts";
import type { EventSink } from "./export-chain/event-sink.ts";

export interface EventEmitterSettings {
  readonly clock: Clock;
  readonly sink: EventSink;
  readonly counters: DeliveryCounters;
  readonly diagnostics: Diagnostics;
}

/** Hears of every event that was handed to the sink. Must not throw. */
export type EventWitness = (event: LifecycleEvent) => void;

/** Stamps events with the time and hands them to the sink; counts each exactly once. */
export class EventEmitter {
  readonly #settings: EventEmitterSettings;
  readonly #witnesses: EventWitness[] = [];
  #closed = false;
  #settlesAtOnce = false;

  constructor(settings: EventEmitterSettings) {
    this.#settings = settings;
  }

  witness(witness: EventWitness): void {
    this.#witnesses.push(witness);
  }

  /** What comes later is dropped and counted. */
  close(): void {
    this.#closed = true;
  }

  /** For the process's last moments, when nothing asynchronous runs any more. */
  settleAtOnce(): void {
    this.#settlesAtOnce = true;
  }

  emit(identity: ChildIdentity, observation: Observation, eventId: string, sequence: number): void {
    const { clock, sink, counters, diagnostics } = this.#settings;
    counters.emitted += 1;
    if (this.#closed) {
      counters.drop("lifecycle_closed", 1);
      diagnostics.report("lifecycle_closed", "an event after shutdown is dropped", { childId: identity.childId });
      return;
    }
    try {
      const observedAtMs = clock.now();
      const event = buildEvent(identity, observation, eventId, sequence, observedAtMs);
      sink.accept(event, observedAtMs);
      for (const witness of this.#witnesses) witness(event);
      if (this.#settlesAtOnce) sink.settleNow("process_exit");
    } catch (error) {
      counters.drop("internal_error", 1);
      diagnostics.internalError(error);
    }
  }
}
