import type { FoldResult, ProjectionInput } from "../core/index.ts";
import type { Clock } from "./clock.ts";
import { Commit, type CommitParts } from "./commit.ts";
import type { Refusal } from "./intake.ts";
import type { UpdatePublisher } from "./update-feed.ts";

export interface WriterOptions extends CommitParts {
  readonly clock: Clock;
  readonly publisher: UpdatePublisher;
  /** Called for every fold whose input is durable, before it is published. */
  readonly onFolded: (result: FoldResult) => void;
  /** When the store stops to take writes it is called once, not again for each commit that fails until it takes them. */
  readonly onError: (message: string, error: unknown) => void;
  /** Called when the store takes writes again. */
  readonly onRecovery?: (message: string) => void;
  /** Received and not yet durable; beyond it new arrivals are refused. Bytes; default 64 MiB. */
  readonly maxQueueBytes?: number;
}

const DEFAULT_MAX_QUEUE_BYTES = 64 * 1024 * 1024;
/** Bounds of one commit: what a request at the front waits for at most. */
const MAX_WEIGHT_PER_COMMIT = 8_192;
/** While more than this waits to be written, what is still in bytes had better stay so. */
const READY_BYTES = 4 * 1024 * 1024;
/** A restart replays at most about this many inputs. */
const CHECKPOINT_AFTER_INPUTS = 10_000;
/** Of those that wait, so many are woken in one turn of the loop: enough for a commit, of requests of the usual size. */
const WOKEN_AT_ONCE = 16;
const RETRY_AFTER_SECONDS = 1;

/** Work for the writer. */
export interface WriterJob {
  /** Inputs it brings, about. */
  readonly weight: number;
  /** Size of what was received for it. */
  readonly bytes: number;
  readonly receiver: string;
  /** Folds and appends inside the open transaction. @returns what to call once that is committed. */
  run(commit: Commit): () => void;
  /** Nothing of it was stored. */
  refuse(refusal: Refusal): void;
}

interface Failure {
  /** The store itself takes no writes now; otherwise it was the input. */
  readonly isStoreBroken: boolean;
  readonly reason: string;
  readonly error: unknown;
}

/**
 * The single writer: everything that changes the projection goes through here, one commit after another. What arrives
 * while a commit runs shares the next one (group commit), so that durability costs one flush for many requests.
 * In every commit: append and fold, commit, acknowledge, publish. A commit that fails leaves no trace in memory either.
 */
export class Writer {
  readonly #options: WriterOptions;
  readonly #maxQueueBytes: number;
  readonly #queue: WriterJob[] = [];
  #queueBytes = 0;
  #scheduled = false;
  #closed = false;
  #unavailable: string | undefined;
  readonly #drained: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#maxQueueBytes = options.maxQueueBytes ?? DEFAULT_MAX_QUEUE_BYTES;
  }

  /** Why the store takes no writes now, or `undefined`. Cleared by the next input that is stored. */
  get unavailable(): string | undefined {
    return this.#unavailable;
  }

  /** Why this much more is not taken now, or `undefined`. */
  refusal(bytes: number): Refusal | undefined {
    if (this.#closed) return { kind: "unavailable", retryable: true, reason: "the collector is shutting down" };
    // A request larger than the whole queue is let in alone, or it could never be taken at all.
    if (this.#queueBytes === 0 || this.#queueBytes + bytes <= this.#maxQueueBytes) return undefined;
    return { kind: "overloaded", retryAfterSeconds: RETRY_AFTER_SECONDS };
  }

  /** Resolves when what is enqueued next will be written soon: at once, or in the order of asking. */
  whenReady(): Promise<void> {
    if (this.#waiting.length === 0 && this.#queueBytes < READY_BYTES) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  enqueue(job: WriterJob): void {
    this.#queue.push(job);
    this.#addQueueBytes(job.bytes);
    this.#schedule();
  }

  /** Stores and folds verdicts of the collector itself. Resolves when they are durable; `false` when they could not be. */
  submitVerdicts(verdicts: readonly ProjectionInput[]): Promise<boolean> {
    if (verdicts.length === 0) return Promise.resolve(true);
    if (this.#closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.enqueue({
        weight: verdicts.length,
        bytes: 0,
        receiver: "liveness",
        run: (commit) => {
          // An empty transaction succeeds on a full disk: while the store is broken, something is to be written.
          const isProbe = this.#unavailable !== undefined;
          for (const verdict of verdicts) commit.foldVerdict(verdict, isProbe);
          return () => resolve(true);
        },
        refuse: () => resolve(false),
      });
    });
  }

  /** Brings the store's projection up to date with every acknowledged input. @returns whether it is. */
  checkpoint(): boolean {
    const { state } = this.#options;
    if (state.uncheckpointedInputs === 0) return true;
    const failure = this.#transact(() => state.writeCheckpoint());
    if (failure !== undefined) return false;
    state.checkpointed();
    return true;
  }

  /**
   * Runs the store's own housekeeping in a transaction of its own, between two commits. `work` has something to write.
   * @returns whether it is durable; `false` when the store takes no writes now.
   * @throws whatever else `work` throws; nothing of it is stored then.
   */
  maintain(work: () => void): boolean {
    const failure = this.#transact(work);
    if (failure === undefined) return true;
    if (failure.isStoreBroken) return false;
    throw failure.error;
  }

  /** Makes everything that was received durable, then refuses what comes later. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#queue.length > 0) await new Promise<void>((resolve) => this.#drained.push(resolve));
    this.checkpoint();
  }

  #schedule(): void {
    if (this.#scheduled || (this.#queue.length === 0 && this.#waiting.length === 0)) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#queue.length > 0) this.#writeNext();
      // One after the other: what each brings is enqueued before the next turn, and is counted by then.
      if (this.#queueBytes < READY_BYTES) for (const resolve of this.#waiting.splice(0, WOKEN_AT_ONCE)) resolve();
      this.#schedule();
      if (this.#queue.length === 0) for (const resolve of this.#drained.splice(0)) resolve();
    });
  }

  #writeNext(): void {
    const jobs = this.#takeJobs();
    this.#write(jobs);
    for (const job of jobs) this.#addQueueBytes(-job.bytes);
    if (this.#options.state.uncheckpointedInputs >= CHECKPOINT_AFTER_INPUTS) this.checkpoint();
  }

  #takeJobs(): readonly WriterJob[] {
    let weight = 0;
    let count = 0;
    for (const job of this.#queue) {
      if (count > 0 && weight + job.weight > MAX_WEIGHT_PER_COMMIT) break;
      weight += job.weight;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  #write(jobs: readonly WriterJob[]): void {
    const { clock, telemetry, publisher, onFolded } = this.#options;
    const commit = new Commit(this.#options);
    const startedAt = clock.monotonicNow();
    let acknowledgements: readonly (() => void)[] = [];
    const failure = this.#transact(() => {
      acknowledgements = jobs.map((job) => job.run(commit));
    });
    if (failure !== undefined) {
      commit.undo();
      this.#refuse(jobs, failure);
      return;
    }
    if (commit.updates.length > 0) this.#recovered();
    commit.accept(onFolded);
    telemetry.observeCommit(clock.monotonicNow() - startedAt, commit.updates.length);
    for (const acknowledge of acknowledgements) acknowledge();
    publisher.publish(commit.updates);
  }

  /** A broken store refuses everybody, who may try again. A job that breaks the fold must not take others with it. */
  #refuse(jobs: readonly WriterJob[], { isStoreBroken, reason }: Failure): void {
    if (!isStoreBroken && jobs.length > 1) {
      for (const job of jobs) this.#write([job]);
      return;
    }
    for (const job of jobs) {
      this.#options.telemetry.countRefusal(job.receiver, "unavailable");
      job.refuse({ kind: "unavailable", retryable: isStoreBroken, reason });
    }
  }

  #transact(work: () => void): Failure | undefined {
    const { store } = this.#options;
    try {
      store.begin();
      work();
      store.commit();
      return undefined;
    } catch (error) {
      this.#rollback();
      return this.#failed(error);
    }
  }

  /** An input was stored. What retention removes or a checkpoint writes says nothing about that: it may need no room. */
  #recovered(): void {
    if (this.#unavailable === undefined) return;
    this.#unavailable = undefined;
    this.#options.onRecovery?.("the store takes writes again");
  }

  #failed(error: unknown): Failure {
    const { store, onError } = this.#options;
    const broken = store.explain(error);
    if (broken === undefined) {
      onError("a commit failed; nothing of it was acknowledged", error);
      return { isStoreBroken: false, reason: "the input could not be processed", error };
    }
    if (this.#unavailable === undefined) {
      onError("the store takes no writes; nothing is acknowledged until it does", broken);
    }
    this.#unavailable = broken.message;
    return { isStoreBroken: true, reason: broken.message, error };
  }

  #rollback(): void {
    try {
      this.#options.store.rollback();
    } catch (error) {
      this.#options.onError("a rollback failed", error);
    }
  }

  #addQueueBytes(bytes: number): void {
    this.#queueBytes += bytes;
    this.#options.telemetry.setQueue(this.#queueBytes);
  }
}
