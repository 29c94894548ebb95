import { setImmediate as nextTurn } from "node:timers/promises";
import type { Component } from "./component.ts";
import type { ComponentLog } from "./component-context.ts";
import { CursorKeeper, type ExportCursors } from "./export-cursors.ts";
import { type ExportLog, readBatch } from "./export-log.ts";
import { type ExportTelemetry, NO_EXPORT_TELEMETRY } from "./export-telemetry.ts";
import type { ExportBatch, Exporter, ExportOutcome } from "./exporter.ts";
import { type Schedule, scheduleUnreferenced } from "./schedule.ts";
import type { UpdateFeed } from "./update-feed.ts";

export interface ExportLoopOptions {
  /** Names it in counters and logs, and its cursor. */
  readonly id: string;
  readonly exporter: Exporter;
  readonly exportLog: ExportLog;
  /** Wakes the loop when something was stored. */
  readonly updates: UpdateFeed;
  readonly cursors: ExportCursors;
  readonly log: ComponentLog;
  readonly telemetry?: ExportTelemetry;
  /** Longest batch. Inputs; default 500. */
  readonly maxBatchInputs?: number;
  /** How long one batch may take before its signal fires. Milliseconds; default 30,000. */
  readonly exportTimeoutMs?: number;
  /** First wait after a failure; it doubles up to the longest. Milliseconds; default 500. */
  readonly minBackoffMs?: number;
  /** Milliseconds; default 60,000. */
  readonly maxBackoffMs?: number;
  /** How long a shutdown waits for the batch on its way before its signal fires. Milliseconds; default 2,000. */
  readonly shutdownGraceMs?: number;
  /** Default: timers that keep no process alive. */
  readonly schedule?: Schedule;
  /** A number from 0 up to 1: spreads the waits of many. Default `Math.random`. */
  readonly random?: () => number;
}

const DEFAULTS = {
  telemetry: NO_EXPORT_TELEMETRY,
  maxBatchInputs: 500,
  exportTimeoutMs: 30_000,
  minBackoffMs: 500,
  maxBackoffMs: 60_000,
  shutdownGraceMs: 2_000,
  schedule: scheduleUnreferenced,
  random: Math.random,
} as const;

type Settings = ExportLoopOptions & Required<Pick<ExportLoopOptions, keyof typeof DEFAULTS>>;

/**
 * Serves one exporter: reads the log from its cursor, hands over batch after batch, and moves the cursor when the
 * exporter is done with one. At least once and in order. It holds one batch and waits for nobody else, and nobody waits
 * for it.
 */
export class ExportLoop implements Component {
  readonly #settings: Settings;
  readonly #stop = new AbortController();
  /** Fires for the batch on its way when a shutdown has waited long enough. */
  readonly #cut = new AbortController();
  #wake: () => void = () => {};
  #unsubscribe: () => void = () => {};
  #cursor: CursorKeeper | undefined;
  #starting: Promise<void> | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: ExportLoopOptions) {
    this.#settings = { ...DEFAULTS, ...options };
  }

  /** Starts the exporter, then begins where it left off. Rejects when the exporter cannot start or its cursor is damaged. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  shutdown(): Promise<void> {
    this.#stopping ??= this.#shutDown();
    return this.#stopping;
  }

  async #start(): Promise<void> {
    const { id, exporter, cursors, updates, log } = this.#settings;
    const loaded = await this.#loadCursor();
    if (this.#stop.signal.aborted) return;
    await exporter.start();
    if (this.#stop.signal.aborted) return;
    this.#cursor = new CursorKeeper(
      loaded,
      (inputId) => cursors.save(id, inputId),
      (error) =>
        log.error({ error: textOf(error) }, "the cursor cannot be kept; after a restart inputs are sent again"),
    );
    this.#unsubscribe = updates.subscribe(() => this.#wake());
    this.#running = this.#run(this.#cursor);
  }

  async #loadCursor(): Promise<number> {
    const { id, cursors, exportLog, log } = this.#settings;
    const cursor = await cursors.load(id);
    const newest = exportLog.lastInputId();
    if (cursor <= newest) return cursor;
    log.error({ cursor, newest }, "the cursor is beyond the log, which was replaced; everything is exported again");
    return 0;
  }

  async #shutDown(): Promise<void> {
    const { exporter, schedule, shutdownGraceMs } = this.#settings;
    this.#stop.abort();
    this.#unsubscribe();
    this.#wake();
    const cancel = schedule(() => this.#cut.abort(), shutdownGraceMs);
    try {
      // A start that fails has said so to its caller.
      await this.#starting?.catch(() => {});
      await this.#running;
    } finally {
      cancel();
    }
    await exporter.shutdown().catch((error: unknown) => this.#tell(textOf(error)));
    await this.#cursor?.flush();
  }

  async #run(cursor: CursorKeeper): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const woken = this.#nextWake();
      const batch = this.#read(cursor.position);
      if (batch === undefined) {
        await woken;
        continue;
      }
      await this.#deliver(batch, cursor);
      // An exporter that answers at once, over a long log, would otherwise keep everybody else from their turn.
      await nextTurn();
    }
  }

  /** To be called before looking at the log: what is stored after the look wakes. */
  #nextWake(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #read(afterInputId: number): ExportBatch | undefined {
    const { exportLog, maxBatchInputs, telemetry, id } = this.#settings;
    try {
      const batch = readBatch(exportLog, afterInputId, maxBatchInputs);
      telemetry.setLag(id, exportLog.lastInputId() - afterInputId);
      return batch;
    } catch (error) {
      // The store cannot be read now: the next commit wakes us to try again.
      this.#tell(textOf(error));
      return undefined;
    }
  }

  async #deliver(batch: ExportBatch, cursor: CursorKeeper): Promise<void> {
    const { id, telemetry, log, minBackoffMs, maxBackoffMs } = this.#settings;
    if (batch.missedInputs > 0) {
      telemetry.countMissed(id, batch.missedInputs);
      log.error({ missedInputs: batch.missedInputs }, "retention removed inputs before they were exported");
    }
    for (let backoffMs = minBackoffMs; ; backoffMs = Math.min(backoffMs * 2, maxBackoffMs)) {
      const outcome = await this.#attempt(batch);
      if (outcome.kind !== "retry") {
        this.#settle(batch, outcome, cursor);
        return;
      }
      if (this.#stop.signal.aborted) return;
      telemetry.countRetry(id);
      this.#tell(outcome.reason);
      await this.#wait(Math.min(outcome.afterMs ?? this.#spread(backoffMs), maxBackoffMs));
      if (this.#stop.signal.aborted) return;
    }
  }

  #settle({ inputs }: ExportBatch, outcome: Exclude<ExportOutcome, { kind: "retry" }>, cursor: CursorKeeper): void {
    const { id, telemetry, log } = this.#settings;
    if (outcome.kind === "refused") {
      telemetry.countRefused(id, inputs.length);
      log.error({ inputs: inputs.length, reason: outcome.reason }, "the destination refused a batch for good");
    } else telemetry.countExported(id, inputs.length);
    if (this.#isFailing) log.info({}, "the destination takes inputs again");
    this.#isFailing = false;
    const last = inputs.at(-1);
    if (last !== undefined) cursor.advance(last.inputId);
  }

  async #attempt(batch: ExportBatch): Promise<ExportOutcome> {
    const { exporter, schedule, exportTimeoutMs } = this.#settings;
    const timeout = new AbortController();
    const cancel = schedule(() => timeout.abort(), exportTimeoutMs);
    try {
      return checkedOutcome(await exporter.export(batch, AbortSignal.any([timeout.signal, this.#cut.signal])));
    } catch (error) {
      return { kind: "retry", reason: textOf(error) };
    } finally {
      cancel();
    }
  }

  #wait(delayMs: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const cancel = this.#settings.schedule(done, delayMs);
      signal.addEventListener("abort", done);
    });
  }

  /** Half of it up to all of it: many exporters of one dead destination do not come back at one time. */
  #spread(backoffMs: number): number {
    return backoffMs * (0.5 + this.#settings.random() / 2);
  }

  /** One line for each episode. */
  #tell(reason: string): void {
    if (!this.#isFailing) this.#settings.log.error({ reason }, "cannot export now; trying again");
    this.#isFailing = true;
  }
}

/** An exporter may be JavaScript of anybody: what it answers is looked at. */
function checkedOutcome(outcome: ExportOutcome): ExportOutcome {
  const kind: unknown = outcome.kind;
  if (outcome.kind === "delivered") return { kind: "delivered" };
  if (outcome.kind === "refused") return { kind: "refused", reason: String(outcome.reason) };
  if (outcome.kind !== "retry") return { kind: "retry", reason: `the exporter answered the unknown outcome ${kind}` };
  const { afterMs } = outcome;
  const reason = String(outcome.reason);
  const isUsable = afterMs !== undefined && Number.isFinite(afterMs) && afterMs >= 0;
  return isUsable ? { kind: "retry", reason, afterMs } : { kind: "retry", reason };
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
