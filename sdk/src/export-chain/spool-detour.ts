import type { LifecycleEvent } from "@agent-lifecycle/proto";
import type { SpanContext } from "@opentelemetry/api";
import type { CancelTimer, Clock } from "../clock.ts";
import type { SpoolConfiguration } from "../configuration-spool.ts";
import type { DeliveryCounters, DropReason } from "../counters.ts";
import { Spool, type SpoolBatch } from "../spool/spool.ts";
import type { SpooledEvent } from "../spool/spool-line.ts";
import { traceOfNow } from "./active-trace.ts";
import type { DeliveryEpisodes } from "./delivery-episodes.ts";
import type { BatchTransport } from "./delivery-outcome.ts";
import type { Entry } from "./entry-queue.ts";
import { retryDelayMs } from "./retry-backoff.ts";
import { SpoolReplay } from "./spool-replay.ts";
import { SpooledRecords } from "./spooled-records.ts";

export interface SpoolDetourSettings {
  readonly spool: SpoolConfiguration;
  /** Names where the events are to go. */
  readonly destination: string;
  readonly maxBatchSize: number;
  readonly maxBufferedEvents: number;
  readonly transport: BatchTransport;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counters: DeliveryCounters;
  readonly episodes: DeliveryEpisodes;
  /** For what the endpoint refused, or the spool does not hold. */
  readonly undeliverable: (events: readonly { readonly event: LifecycleEvent }[], reason: DropReason) => void;
  readonly inheritedTrace: SpanContext | undefined;
  readonly onInternalError: (error: unknown) => void;
}

/** How often to look for spools of processes that have ended. */
const ADOPTION_INTERVAL_MS = 60_000;

/**
 * The way round an endpoint that is away: to disk, and from there to the endpoint when it is back. While anything is on
 * this way, newer events take it too, so that none overtakes another. Spools of earlier processes are sent beside it.
 */
export class SpoolDetour {
  readonly #settings: SpoolDetourSettings;
  readonly #spool: Spool;
  readonly #replay: SpoolReplay;
  readonly #adoption: SpoolReplay;
  #cancelAdoption: CancelTimer | undefined;
  #closed = false;

  constructor(settings: SpoolDetourSettings) {
    this.#settings = settings;
    const { spool, destination, maxBatchSize, maxBufferedEvents, clock, counters, episodes } = settings;
    this.#spool = new Spool({
      ...spool,
      destination,
      maxBatchSize,
      maxWaiting: maxBufferedEvents,
      clock,
      onDropped: (events, reason, problem) => {
        episodes.spoolFailing(problem);
        settings.undeliverable(events, reason);
      },
      onProblem: (problem) => episodes.spoolFailing(problem),
    });
    this.#replay = this.#replayOf(() => this.#spool.take(), {
      onDelivered: (count, rejected, message) => {
        counters.exported += count - rejected;
        counters.replayed += count - rejected;
        counters.reject(rejected, message ?? "");
      },
      onRefused: (entries) => settings.undeliverable(entries, "export_refused"),
    });
    this.#adoption = this.#replayOf(() => this.#spool.takeAdopted(), {
      onDelivered: (count, rejected) => {
        counters.adopted += count - rejected;
        counters.adoptedRefused += rejected;
      },
      onRefused: (entries) => {
        counters.adoptedRefused += entries.length;
      },
    });
    this.#cancelAdoption = clock.soon(() => this.#adopt());
  }

  /** Whether new events must go this way, behind those that already do. */
  get isInUse(): boolean {
    return this.#replay.isActive;
  }

  get inMemory(): number {
    return this.#spool.inMemory;
  }

  get onDisk(): number {
    return this.#spool.onDisk;
  }

  /** Takes what the endpoint did not; `notBeforeMs` when the server named a time to come again. */
  divert(entries: readonly Entry[], notBeforeMs: number | undefined): void {
    this.#spool.writeAll(entries.map(({ event, record }) => spooled(event, record.spanContext)));
    const { clock, random } = this.#settings;
    this.#replay.start(
      notBeforeMs === undefined
        ? { delayMs: retryDelayMs(1, undefined, random()), askedByServer: false }
        : { delayMs: Math.max(notBeforeMs - clock.now(), 0), askedByServer: true },
    );
  }

  accept(event: LifecycleEvent): void {
    this.#spool.write(spooled(event, traceOfNow(this.#settings.inheritedTrace)));
  }

  /** Resolves when everything is sent, or on disk after an attempt to send it. `tries`: whether to make one. */
  async flush(tries: boolean): Promise<void> {
    if (tries) await this.#replay.flush();
    this.#spool.writeNow();
    await this.#spool.synced();
  }

  /** Everything to disk, in this turn, for whoever comes next. */
  settleNow(entries: readonly Entry[]): void {
    this.#replay.stop();
    this.#adoption.stop();
    this.#spool.writeAll(entries.map(({ event, record }) => spooled(event, record.spanContext)));
    this.#spool.release();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelAdoption?.();
    this.settleNow([]);
  }

  #adopt(): void {
    if (this.#spool.adopt() > 0) this.#adoption.start(undefined);
    this.#cancelAdoption = this.#settings.clock.after(ADOPTION_INTERVAL_MS, () => this.#adopt());
  }

  #replayOf(take: () => SpoolBatch | undefined, counting: Counting): SpoolReplay {
    const { transport, clock, random, counters, episodes, onInternalError } = this.#settings;
    const records = new SpooledRecords();
    return new SpoolReplay({
      take,
      entryOf: (event) => records.entryOf(event),
      transport,
      clock,
      random,
      onDelivered: (delivered, rejected, message) => {
        counting.onDelivered(delivered, rejected, message);
        if (rejected > 0 || message !== undefined) episodes.rejected(rejected, message);
        episodes.delivered();
      },
      onRefused: (entries, problem) => {
        episodes.failing(problem);
        counting.onRefused(entries);
      },
      onLost: (lost) => counters.drop("spool_damaged", lost),
      onRetry: (problem) => episodes.failing(problem),
      onInternalError,
    });
  }
}

interface Counting {
  readonly onDelivered: (count: number, rejected: number, message: string | undefined) => void;
  readonly onRefused: (entries: readonly Entry[]) => void;
}

function spooled(event: LifecycleEvent, spanContext: SpanContext | undefined): SpooledEvent {
  return spanContext === undefined ? { event } : { event, spanContext };
}
