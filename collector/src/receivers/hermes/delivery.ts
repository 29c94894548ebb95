import type { LifecycleEventInput, LifecycleSnapshot } from "@agent-lifecycle/proto";
import { refusedFor } from "../../runtime/intake.ts";
import type { ReceiverIntake } from "../../runtime/receiver.ts";
import { patientlyRetrying, type Wait } from "../intake-patience.ts";

const MAX_BATCH_EVENTS = 500;

/**
 * Hands events and snapshots to the door, and waits with what it refuses: the gateway keeps its frames meanwhile, and
 * nothing is counted as read before it is stored.
 */
export class Delivery {
  readonly #intake: ReceiverIntake;
  readonly #retry: ReturnType<typeof patientlyRetrying>;
  eventsStored = 0;
  /** Refused at the door: they break the contract, or name a source that may not be spoken for. */
  eventsRefused = 0;
  snapshotsStored = 0;

  constructor(intake: ReceiverIntake, wait: Wait, signal: AbortSignal) {
    this.#intake = intake;
    this.#retry = patientlyRetrying(wait, signal);
  }

  /**
   * Resolves when they are durable. Rejects when the receiver is shut down before.
   * @param backfill old evidence: what the gateway kept while nobody looked. Default `false`
   */
  async events(events: readonly LifecycleEventInput[], backfill = false): Promise<void> {
    for (let start = 0; start < events.length; start += MAX_BATCH_EVENTS) {
      const batch = events.slice(start, start + MAX_BATCH_EVENTS);
      const bytes = JSON.stringify(batch).length;
      let intake = await this.#intake.acceptEvents(batch, { backfill, bytes });
      while (intake.kind !== "stored") {
        await this.#retry(intake);
        intake = await this.#intake.acceptEvents(batch, { backfill, bytes });
      }
      const refused = intake.outcomes.filter((outcome) => refusedFor(outcome) !== undefined).length;
      this.eventsRefused += refused;
      this.eventsStored += batch.length - refused;
    }
  }

  /** Offers it once: a refused snapshot is out of date when the door opens again, and the next look gives another. */
  async snapshot(snapshot: LifecycleSnapshot): Promise<boolean> {
    const bytes = JSON.stringify(snapshot).length;
    const intake = await this.#intake.acceptSnapshot(snapshot, { backfill: false, bytes });
    if (intake.kind !== "stored") return false;
    this.snapshotsStored += 1;
    return true;
  }
}
