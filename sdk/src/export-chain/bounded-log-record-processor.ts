import { isTerminal, type LifecycleEvent } from "@agent-lifecycle/proto";
import type { LogRecordProcessor, ReadWriteLogRecord } from "@opentelemetry/sdk-logs";
import type { CancelTimer, Clock } from "../clock.ts";
import type { BatchingConfiguration } from "../configuration.ts";
import { BatchDelivery, type BatchFate } from "./batch-delivery.ts";
import type { BatchTransport } from "./delivery-outcome.ts";
import { type Entry, EntryQueue } from "./entry-queue.ts";
import type { FlushPatience } from "./event-sink.ts";
import { approximateBytes } from "./event-size.ts";

/** What the processor tells its owner. Each entry it accepted is in exactly one of these calls, or in `withdrawAll`. */
export interface ProcessorListener {
  onDelivered(entries: readonly Entry[], rejected: number, message: string | undefined): void;
  onFailed(entries: readonly Entry[], reason: "export_refused" | "export_unavailable", problem: string): void;
  /**
   * Only with `diverts`: the endpoint is away, and this is everything that was on its way or waiting, in order.
   * `notBeforeMs`: the server asked not to be asked again before.
   */
  onUnavailable(entries: readonly Entry[], problem: string, notBeforeMs: number | undefined): void;
  /** There was no room for it. */
  onOverflow(entry: Entry): void;
  /** A batch will be tried again. */
  onRetry(problem: string): void;
  onInternalError(error: unknown): void;
}

export interface ProcessorSettings {
  readonly batching: BatchingConfiguration;
  readonly transport: BatchTransport;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether failed batches have another place to go; without one they wait for their endpoint. */
  readonly hasFallback: boolean;
  /** Whether an endpoint that is away turns everything over to `onUnavailable`, and a flush tries it but once. */
  readonly diverts: boolean;
  readonly listener: ProcessorListener;
}

interface FlushWaiter {
  readonly target: number;
  readonly resolve: () => void;
}

/** The part of the buffer, one eighth, that only events with a state may use: a flood of heartbeats displaces no ending. */
const RESERVED_SHARE = 8;

/**
 * Batches records and sends them, several batches at a time, and loses none without saying so. Entries are numbered in
 * the order they come; a flush is "everything below this number has met its fate", so any number of flushes and a
 * shutdown can overlap and each waits for exactly what was there before it.
 */
export class BoundedLogRecordProcessor implements LogRecordProcessor {
  readonly #settings: ProcessorSettings;
  readonly #queue = new EntryQueue();
  readonly #inFlight = new Set<BatchDelivery>();
  #entriesInFlight = 0;
  /** Of everything that waits or is on its way. */
  #bytes = 0;
  #waiters: FlushWaiter[] = [];
  /** Entries below this number are sent without waiting for a full batch. */
  #dueBelow = 0;
  #emitting: LifecycleEvent | undefined;
  #emittingIsOld = false;
  #cancelDelay: CancelTimer | undefined;
  #cancelSoon: CancelTimer | undefined;
  #impatient = false;
  #closed = false;
  /** The server asked not to be asked before this time; it holds for every batch. */
  #notBeforeMs = 0;

  constructor(settings: ProcessorSettings) {
    this.#settings = settings;
  }

  /** The event whose record the next `onEmit` brings, in the same turn; `isOld`: it says so of itself. */
  expect(event: LifecycleEvent | undefined, isOld = false): void {
    this.#emitting = event;
    this.#emittingIsOld = isOld;
  }

  onEmit(record: ReadWriteLogRecord): void {
    const event = this.#emitting;
    if (event === undefined) return;
    this.#emitting = undefined;
    const bytes = approximateBytes(event);
    const entry: Entry = this.#emittingIsOld ? { event, record, bytes, isOld: true } : { event, record, bytes };
    if (this.#closed || !this.#hasRoomFor(entry)) {
      this.#settings.listener.onOverflow(entry);
      return;
    }
    this.#queue.push(entry);
    this.#bytes += entry.bytes;
    if (isTerminal(event.state)) {
      this.#dueBelow = this.#queue.nextNumber;
      this.#pumpSoon();
    } else if (this.#queue.length >= this.#settings.batching.maxBatchSize) this.#pumpSoon();
    else this.#pumpLater();
  }

  /** Entries waiting or on their way. */
  pending(): number {
    return this.#queue.length + this.#entriesInFlight;
  }

  flush(patience: FlushPatience): Promise<void> {
    const target = this.#queue.nextNumber;
    this.#impatient = patience === "process_exit" || this.#settings.diverts;
    if (this.#settledBelow() >= target) return Promise.resolve();
    this.#dueBelow = Math.max(this.#dueBelow, target);
    for (const batch of this.#inFlight) batch.hurry(this.#impatient);
    return new Promise((resolve) => {
      this.#waiters.push({ target, resolve });
      this.#pump();
    });
  }

  /** Takes back everything whose fate is open; flushes that wait for it resolve. */
  withdrawAll(): readonly Entry[] {
    const entries: Entry[] = [];
    for (const batch of this.#inFlight) {
      batch.withdraw();
      entries.push(...batch.entries);
    }
    this.#inFlight.clear();
    this.#entriesInFlight = 0;
    this.#bytes = 0;
    for (const entry of this.#queue.take(this.#queue.length)) entries.push(entry);
    this.#cancelTimers();
    this.#resolveWaiters();
    return entries;
  }

  forceFlush(): Promise<void> {
    return this.flush("until_deadline");
  }

  /** Takes nothing more; resolves when everything taken has met its fate. */
  async shutdown(): Promise<void> {
    this.#closed = true;
    await this.flush("until_deadline");
    this.#cancelTimers();
  }

  #hasRoomFor({ event, bytes }: Entry): boolean {
    const { maxBufferedEvents, maxBufferedBytes } = this.#settings.batching;
    const room = (most: number): number =>
      event.state === undefined ? most - Math.floor(most / RESERVED_SHARE) : most;
    return this.pending() < room(maxBufferedEvents) && this.#bytes + bytes <= room(maxBufferedBytes);
  }

  #pumpSoon(): void {
    this.#cancelSoon ??= this.#settings.clock.soon(() => {
      this.#cancelSoon = undefined;
      this.#pump();
    });
  }

  #pumpLater(): void {
    this.#cancelDelay ??= this.#settings.clock.after(this.#settings.batching.scheduledDelayMs, () => {
      this.#cancelDelay = undefined;
      this.#dueBelow = this.#queue.nextNumber;
      this.#pump();
    });
  }

  #pump(): void {
    const { maxBatchSize, maxConcurrentExports } = this.#settings.batching;
    if (this.#queue.length > 0 && this.#waitsForServer()) return;
    while (this.#inFlight.size < maxConcurrentExports && this.#queue.length > 0) {
      const isDue = this.#queue.headNumber < this.#dueBelow;
      if (!isDue && this.#queue.length < maxBatchSize) {
        this.#pumpLater();
        return;
      }
      this.#deliver().catch((error: unknown) => this.#settings.listener.onInternalError(error));
    }
  }

  /** No batch is sent before the time that the server named. */
  #waitsForServer(): boolean {
    const waitMs = this.#notBeforeMs - this.#settings.clock.now();
    if (waitMs <= 0) return false;
    this.#cancelDelay?.();
    this.#cancelDelay = this.#settings.clock.after(waitMs, () => {
      this.#cancelDelay = undefined;
      this.#dueBelow = this.#queue.nextNumber;
      this.#pump();
    });
    return true;
  }

  async #deliver(): Promise<void> {
    const { batching, transport, clock, random, hasFallback, diverts, listener } = this.#settings;
    const firstNumber = this.#queue.headNumber;
    const batch = new BatchDelivery(this.#queue.take(batching.maxBatchSize), firstNumber, {
      transport,
      clock,
      random,
      patienceMs: hasFallback || diverts ? batching.exportTimeoutMs : undefined,
      onRetry: (problem, notBeforeMs) => {
        this.#notBeforeMs = Math.max(this.#notBeforeMs, notBeforeMs ?? 0);
        listener.onRetry(problem);
      },
    });
    batch.hurry(this.#impatient);
    this.#inFlight.add(batch);
    this.#entriesInFlight += batch.entries.length;
    const fate = await batch.run();
    // It may have been withdrawn when its answer was there already: then it is sent twice, and counted once.
    if (fate === undefined || !this.#inFlight.has(batch)) return;
    if (diverts && fate.status === "failed" && fate.reason === "export_unavailable") {
      // Batches behind this one, and those before it that are still tried, would overtake each other.
      listener.onUnavailable(this.withdrawAll(), fate.problem, fate.notBeforeMs);
      return;
    }
    this.#inFlight.delete(batch);
    this.#entriesInFlight -= batch.entries.length;
    for (const entry of batch.entries) this.#bytes -= entry.bytes;
    this.#tell(batch, fate);
    this.#resolveWaiters();
    this.#pump();
  }

  #tell(batch: BatchDelivery, fate: BatchFate): void {
    const { listener } = this.#settings;
    if (fate.status === "delivered") listener.onDelivered(batch.entries, fate.rejected, fate.message);
    else listener.onFailed(batch.entries, fate.reason, fate.problem);
  }

  /** Every entry below this number has met its fate. */
  #settledBelow(): number {
    let below = this.#queue.headNumber;
    for (const batch of this.#inFlight) below = Math.min(below, batch.firstNumber);
    return below;
  }

  #resolveWaiters(): void {
    const below = this.#settledBelow();
    const done = this.#waiters.filter((waiter) => waiter.target <= below);
    if (done.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.target > below);
    if (this.#waiters.length === 0) this.#impatient = false;
    for (const waiter of done) waiter.resolve();
  }

  #cancelTimers(): void {
    this.#cancelDelay?.();
    this.#cancelDelay = undefined;
    this.#cancelSoon?.();
    this.#cancelSoon = undefined;
  }
}
