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

/** Stamps events with the time and hands them to the sink; counts each exactly once. */
export class EventEmitter {
  readonly #settings: EventEmitterSettings;
  #closed = false;
  #settlesAtOnce = false;

  constructor(settings: EventEmitterSettings) {
    this.#settings = settings;
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
      sink.accept(buildEvent(identity, observation, eventId, sequence, observedAtMs), observedAtMs);
      if (this.#settlesAtOnce) sink.settleNow("process_exit");
    } catch (error) {
      counters.drop("internal_error", 1);
      diagnostics.internalError(error);
    }
  }
}
