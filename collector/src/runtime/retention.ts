import type { Store, StoredInput } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import type { Component } from "./component.ts";
import { advanceLog, type LogAdvance, receivedAt } from "./log-advance.ts";
import type { ProjectionState } from "./projection-state.ts";
import { type Schedule, scheduleUnreferenced } from "./schedule.ts";
import type { RetentionTelemetry, StorageState } from "./telemetry.ts";
import type { UpdatePublisher } from "./update-feed.ts";
import type { Writer } from "./writer.ts";

/** How much is kept. Live children are kept whatever is said here. */
export interface RetentionLimits {
  /** Inputs older than this are removed. Milliseconds; `undefined`: none for its age. */
  readonly maxAgeMs: number | undefined;
  /** While more is stored, the oldest inputs are removed, down to nine tenths of it. Bytes; `undefined`: none for its size. */
  readonly maxSizeBytes: number | undefined;
}

export interface RetentionOptions {
  readonly store: Store;
  readonly state: ProjectionState;
  readonly writer: Pick<Writer, "checkpoint" | "maintain">;
  readonly clock: Clock;
  readonly publisher: Pick<UpdatePublisher, "publish">;
  readonly telemetry: RetentionTelemetry;
  readonly limits: RetentionLimits;
  /** Called once when the data stays too large, and once when retention has to stop. */
  readonly onError: (message: string, error: unknown) => void;
  /** Time between two rounds. Milliseconds; default 60,000. */
  readonly intervalMs?: number;
  /**
   * Inputs younger than this are never removed for size: a sender's retry is to be recognized, and a child that reports
   * a little late is to be believed. Milliseconds; default 600,000.
   */
  readonly keptAtLeastMs?: number;
  /** Inputs removed in one transaction, between two commits of the writer; each child of a snapshot counts. Default 500. */
  readonly inputsPerStep?: number;
  /** Default: timers that keep no process alive. */
  readonly schedule?: Schedule;
}

/** What one round removed. */
export interface RetentionRound {
  readonly inputs: number;
  readonly children: number;
}

const DEFAULT_INTERVAL_MS = 60_000;
const DEFAULT_KEPT_AT_LEAST_MS = 600_000;
const DEFAULT_INPUTS_PER_STEP = 500;
/** Removing for size goes on a little below the limit, or every round would begin it anew. */
const ENOUGH = 0.9;

/**
 * Moves the beginning of the log forward, by age and by size, in small steps: each is a transaction of its own, and
 * after each the writer has its turn for as long as the step took.
 */
export class Retention implements Component {
  readonly #options: RetentionOptions;
  readonly #schedule: Schedule;
  readonly #inputsPerStep: number;
  #limits: RetentionLimits;
  #isReducing = false;
  #storage: StorageState = { usedBytes: 0, isOverLimit: false, isHalted: false };
  #cancel: (() => void) | undefined;
  #resumeRound: (() => void) | undefined;
  #running: Promise<RetentionRound> | undefined;
  #isShutDown = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#schedule = options.schedule ?? scheduleUnreferenced;
    this.#inputsPerStep = options.inputsPerStep ?? DEFAULT_INPUTS_PER_STEP;
  }

  /** From the next step on. */
  set limits(limits: RetentionLimits) {
    this.#limits = limits;
  }

  /** The first round comes after one interval: a start has better things to do. */
  async start(): Promise<void> {
    if (!this.#isShutDown) this.#plan();
  }

  async shutdown(): Promise<void> {
    this.#isShutDown = true;
    this.#cancel?.();
    this.#resumeRound?.();
    await this.#running;
  }

  /**
   * One round: removes everything that is to go now. Public for hosts and operators that do not want to wait for the
   * next; while one runs, it is that one. Never rejects.
   */
  run(): Promise<RetentionRound> {
    this.#running ??= this.#removeAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #removeAll(): Promise<RetentionRound> {
    const { writer, state, publisher } = this.#options;
    const round = { inputs: 0, children: 0 };
    if (this.#storage.isHalted || !writer.checkpoint()) return round;
    try {
      this.#dropOldDiagnostics();
      for (let step = this.#step(); step !== undefined; step = this.#step()) {
        round.inputs += step.advance.inputs;
        round.children += step.advance.letGo.length;
        await this.#pause(step.durationMs);
      }
      // No change to announce, but other counts: whoever shows them is sent them.
      if (round.children > 0) publisher.publish([{ inputId: state.lastInputId, changes: [], audit: [] }]);
    } catch (error) {
      this.#fail(error);
    }
    return round;
  }

  /** A read that failed may work in the next round; what cannot be read or proven stays as it is. */
  #fail(error: unknown): void {
    const { store, onError } = this.#options;
    const broken = store.explain(error);
    if (broken?.retryable === true) {
      onError("retention could not read the store; it tries again in the next round", broken);
      return;
    }
    this.#note({ isHalted: true });
    onError("retention stopped: nothing more is removed until the collector starts again", broken ?? error);
  }

  /** Removes some inputs, if any are to go. */
  #step(): { readonly advance: LogAdvance; readonly durationMs: number } | undefined {
    const { store, state, writer, clock, telemetry } = this.#options;
    if (this.#isShutDown) return undefined;
    this.#measure();
    const startedAt = clock.monotonicNow();
    const inputs = this.#dueInputs();
    if (inputs.length === 0) {
      this.#settle();
      return undefined;
    }
    let advance: LogAdvance | undefined;
    const isDone = writer.maintain(() => {
      advance = advanceLog(store, inputs, clock.wallNow());
    });
    if (!isDone || advance === undefined) return undefined;
    state.advanced(advance);
    telemetry.countRetention(advance.inputs, advance.letGo.length, advance.inputId);
    return { advance, durationMs: clock.monotonicNow() - startedAt };
  }

  /** The oldest inputs, as far as each of them may go. */
  #dueInputs(): readonly StoredInput[] {
    const { store, state } = this.#options;
    const keptSince = this.#keptSince();
    if (keptSince === undefined) return [];
    const now = this.#options.clock.wallNow();
    const due: StoredInput[] = [];
    let weight = 0;
    for (const stored of store.inputs(state.removedInputId)) {
      if (weight >= this.#inputsPerStep || stored.inputId > state.checkpointInputId) break;
      const at = receivedAt(stored);
      // A time that is yet to come was stamped by a clock that was ahead: the inputs after it tell how old it is.
      if (at >= keptSince && at <= now) break;
      due.push(stored);
      weight += weightOf(stored);
    }
    return due;
  }

  /** Inputs received from here on are kept; `undefined` when everything is. Milliseconds since the epoch. */
  #keptSince(): number | undefined {
    const now = this.#options.clock.wallNow();
    const { maxAgeMs } = this.#limits;
    const reasons: number[] = [];
    if (maxAgeMs !== undefined) reasons.push(now - maxAgeMs);
    if (this.#isReducing) reasons.push(now - (this.#options.keptAtLeastMs ?? DEFAULT_KEPT_AT_LEAST_MS));
    return reasons.length === 0 ? undefined : Math.max(...reasons);
  }

  #measure(): void {
    const usedBytes = this.#options.store.usedBytes();
    const { maxSizeBytes } = this.#limits;
    if (maxSizeBytes === undefined || usedBytes <= maxSizeBytes * ENOUGH) this.#isReducing = false;
    else if (usedBytes > maxSizeBytes) this.#isReducing = true;
    this.#note({ usedBytes });
  }

  /** Nothing is left that may go. */
  #settle(): void {
    const { onError } = this.#options;
    const { usedBytes, isOverLimit: wasOverLimit } = this.#storage;
    const { maxSizeBytes } = this.#limits;
    const isOverLimit = maxSizeBytes !== undefined && usedBytes > maxSizeBytes;
    this.#isReducing = false;
    this.#note({ isOverLimit });
    if (!isOverLimit || wasOverLimit) return;
    const finding = `${usedBytes} bytes are stored and ${maxSizeBytes} are allowed`;
    onError(
      "the database stays larger than its limit: the rest is live children and recent inputs",
      new Error(finding),
    );
  }

  #dropOldDiagnostics(): void {
    const { store, writer, clock } = this.#options;
    const { maxAgeMs } = this.#limits;
    if (maxAgeMs === undefined) return;
    const before = clock.wallNow() - maxAgeMs;
    if (store.hasDiagnosticsBefore(before)) writer.maintain(() => store.dropDiagnosticsBefore(before));
  }

  #note(changes: Partial<StorageState>): void {
    this.#storage = { ...this.#storage, ...changes };
    this.#options.telemetry.setStorage(this.#storage);
  }

  #pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#resumeRound = resolve;
      this.#cancel = this.#schedule(resolve, Math.ceil(durationMs));
    });
  }

  #plan(): void {
    this.#cancel = this.#schedule(() => {
      void this.run().then(() => {
        if (!this.#isShutDown) this.#plan();
      });
    }, this.#options.intervalMs ?? DEFAULT_INTERVAL_MS);
  }
}

/** What folding an input costs, in folds of single events. */
function weightOf({ input }: StoredInput): number {
  return input.type === "snapshot" ? 1 + input.snapshot.children.length : 1;
}
