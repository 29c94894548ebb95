import type { Clock } from "../clock.ts";
import type { SpoolBatch } from "../spool/spool.ts";
import type { SpooledEvent } from "../spool/spool-line.ts";
import { BatchDelivery, type BatchDeliverySettings } from "./batch-delivery.ts";
import type { BatchTransport } from "./delivery-outcome.ts";
import type { Entry } from "./entry-queue.ts";

export interface SpoolReplaySettings {
  /** The oldest events that are still to be sent. */
  readonly take: () => SpoolBatch | undefined;
  readonly entryOf: (event: SpooledEvent) => Entry;
  readonly transport: BatchTransport;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onDelivered: (count: number, rejected: number, message: string | undefined) => void;
  readonly onRefused: (entries: readonly Entry[], problem: string) => void;
  readonly onLost: (count: number) => void;
  readonly onRetry: (problem: string) => void;
  readonly onInternalError: (error: unknown) => void;
}

type FirstWait = BatchDeliverySettings["firstWait"] | undefined;

interface Current {
  readonly batch: SpoolBatch;
  readonly delivery: BatchDelivery;
}

/**
 * Sends what lies in a spool, oldest first, one batch at a time, for as long as it takes. A batch is removed when it has
 * met its fate, so a process that ends in between leaves it to the next, and at worst it is sent twice.
 */
export class SpoolReplay {
  readonly #settings: SpoolReplaySettings;
  #current: Current | undefined;
  #running = false;
  #stopped = false;
  #firstWait: FirstWait;
  #waiters: (() => void)[] = [];

  constructor(settings: SpoolReplaySettings) {
    this.#settings = settings;
  }

  /** Whether there is something to send; then nothing newer may overtake it. */
  get isActive(): boolean {
    return this.#running;
  }

  /** Goes on until nothing is left; a call meanwhile changes nothing. */
  start(firstWait: FirstWait): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#firstWait = firstWait;
    this.#run().catch((error: unknown) => this.#settings.onInternalError(error));
  }

  /** Resolves when everything is sent, or after the next attempt that fails. */
  flush(): Promise<void> {
    if (!this.#running || this.#current?.delivery.waitsForServer === true) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.#current?.delivery.hurry(false);
    });
  }

  /** Ends for good: what is under way goes back. */
  stop(): void {
    this.#stopped = true;
    this.#running = false;
    const current = this.#current;
    this.#current = undefined;
    current?.delivery.withdraw();
    current?.batch.putBack();
    this.#release();
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopped) {
        const batch = this.#settings.take();
        if (batch === undefined) break;
        if (!(await this.#send(batch))) return;
      }
    } finally {
      // In the same turn as the look that found nothing: nobody can have added anything in between.
      this.#running = false;
      this.#release();
    }
  }

  /** @returns whether the batch has met its fate. */
  async #send(batch: SpoolBatch): Promise<boolean> {
    const { entryOf, transport, clock, random, onDelivered, onRefused, onLost, onRetry } = this.#settings;
    const entries = batch.events.map(entryOf);
    if (entries.length > 0) {
      const delivery = new BatchDelivery(entries, 0, {
        transport,
        clock,
        random,
        patienceMs: undefined,
        ...(this.#firstWait === undefined ? undefined : { firstWait: this.#firstWait }),
        onRetry: (problem) => {
          onRetry(problem);
          this.#release();
        },
      });
      this.#firstWait = undefined;
      this.#current = { batch, delivery };
      const fate = await delivery.run();
      if (fate === undefined || this.#stopped) return false;
      this.#current = undefined;
      if (fate.status === "delivered") onDelivered(entries.length, fate.rejected, fate.message);
      else onRefused(entries, fate.problem);
    }
    if (batch.lost > 0) onLost(batch.lost);
    batch.settle();
    return true;
  }

  #release(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
