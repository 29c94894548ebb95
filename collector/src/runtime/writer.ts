import {
  type Diagnostic,
  type LifecycleSnapshot,
  normalizeSnapshot,
} from "@agent-lifecycle/proto";
import {
  type FoldResult,
  fold,
  identityQuestion,
  type ProjectionInput,
  type SnapshotPolicy,
  snapshotIdentityQuestion,
} from "../core/index.ts";
import type { Store, StoredDiagnostic } from "../store/store.ts";
import { type Arrival, admit, type EventArrival } from "./arrival.ts";
import type { Clock } from "./clock.ts";
import type { EventOutcome, EventsIntake, Intake, Origin, Refusal, SnapshotIntake } from "./intake.ts";
import type { ProjectionState } from "./projection-state.ts";
import type { PipelineTelemetry } from "./telemetry.ts";
import type { ProjectionUpdate, UpdatePublisher } from "./update-feed.ts";

export interface WriterOptions {
  readonly store: Store;
  readonly state: ProjectionState;
  readonly clock: Clock;
  readonly publisher: UpdatePublisher;
  readonly telemetry: PipelineTelemetry;
  /** The policy stamped on a snapshot of this source. */
  readonly snapshotPolicyOf: (source: string) => SnapshotPolicy;
  /** Called for every fold whose input is durable, before it is published. */
  readonly onFolded: (result: FoldResult) => void;
  readonly onError: (message: string, error: unknown) => void;
  /** Received and not yet durable; beyond it new arrivals are refused. Bytes; default 64 MiB. */
  readonly maxQueueBytes?: number;
}

const DEFAULT_MAX_QUEUE_BYTES = 64 * 1024 * 1024;
/** Bounds of one commit: what a request at the front waits for at most. */
const MAX_EVENTS_PER_COMMIT = 8_192;
/** A restart replays at most about this many inputs. */
const CHECKPOINT_AFTER_INPUTS = 10_000;
const MAX_STORED_DIAGNOSTICS = 10_000;
/** Diagnostics stored by one commit; further ones are only counted, so that a flood of bad input stays cheap. */
const MAX_DIAGNOSTICS_PER_COMMIT = 200;
const RETRY_AFTER_SECONDS = 1;

interface Job {
  readonly weight: number;
  readonly bytes: number;
  readonly receiver: string;
  /** Folds and appends inside the open transaction; returns what to call once it is committed. */
  run(commit: Commit): () => void;
  refuse(refusal: Refusal): void;
}

interface Failure {
  /** The store itself takes no writes now; otherwise it was the input. */
  readonly isStoreBroken: boolean;
  readonly reason: string;
}

/** What one transaction has gathered so far. */
interface Commit {
  readonly results: FoldResult[];
  readonly updates: ProjectionUpdate[];
  inputs: number;
  diagnostics: number;
}

/**
 * The single writer: everything that changes the projection goes through here, one commit after another. What arrives
 * while a commit runs shares the next one (group commit), so that durability costs one flush for many requests.
 * In every commit: append and fold, commit, acknowledge, publish. A commit that fails leaves no trace in memory either.
 */
export class Writer implements Intake {
  readonly #options: WriterOptions;
  readonly #maxQueueBytes: number;
  readonly #queue: Job[] = [];
  #queueBytes = 0;
  #scheduled = false;
  #closed = false;
  #unavailable: string | undefined;
  #drained: (() => void)[] = [];

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#maxQueueBytes = options.maxQueueBytes ?? DEFAULT_MAX_QUEUE_BYTES;
  }

  /** Why the store takes no writes now, or `undefined`. Cleared by the next commit that succeeds. */
  get unavailable(): string | undefined {
    return this.#unavailable;
  }

  acceptEvents(candidates: readonly unknown[], origin: Origin): Promise<EventsIntake> {
    const refusal = this.#admission(origin);
    if (refusal !== undefined) return Promise.resolve(refusal);
    const receivedAt = this.#options.clock.wallNow();
    const arrivals = candidates.map(admit);
    return new Promise((resolve) => {
      this.#enqueue({
        weight: arrivals.length,
        bytes: origin.bytes,
        receiver: origin.receiver,
        run: (commit) => {
          const outcomes = arrivals.map((arrival) => this.#fold(commit, arrival, origin, receivedAt));
          return () => {
            this.#countOutcomes(origin.receiver, outcomes);
            resolve({ kind: "stored", outcomes });
          };
        },
        refuse: resolve,
      });
    });
  }

  acceptSnapshot(candidate: unknown, origin: Origin): Promise<SnapshotIntake> {
    const refusal = this.#admission(origin);
    if (refusal !== undefined) return Promise.resolve(refusal);
    const receivedAt = this.#options.clock.wallNow();
    const normalized = normalizeSnapshot(candidate);
    if (!normalized.ok) {
      this.reportProblem(origin.receiver, normalized.diagnostic);
      const { diagnostic } = normalized;
      return Promise.resolve({ kind: "stored", status: "rejected", diagnostics: [diagnostic], corrected: 0, stale: [] });
    }
    const { snapshot, diagnostics } = normalized;
    return new Promise((resolve) => {
      this.#enqueue({
        weight: 1 + snapshot.children.length,
        bytes: origin.bytes,
        receiver: origin.receiver,
        run: (commit) => {
          const result = this.#foldSnapshot(commit, snapshot, origin, receivedAt);
          const stale = result.changes.filter(({ before, after }) => !before?.stale && after.stale);
          return () =>
            resolve({
              kind: "stored",
              status: result.status,
              diagnostics: [...result.diagnostics, ...diagnostics],
              corrected: result.audit.filter((entry) => entry.reason === "authoritative_snapshot" && entry.from).length,
              stale: stale.map(({ after }) => after.childId),
            });
        },
        refuse: resolve,
      });
    });
  }

  /** Stores and folds verdicts of the collector itself. Resolves when they are durable; `false` when they could not be. */
  submitVerdicts(verdicts: readonly ProjectionInput[]): Promise<boolean> {
    if (verdicts.length === 0) return Promise.resolve(true);
    if (this.#closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#enqueue({
        weight: verdicts.length,
        bytes: 0,
        receiver: "liveness",
        run: (commit) => {
          for (const verdict of verdicts) this.#foldVerdict(commit, verdict);
          return () => resolve(true);
        },
        refuse: () => resolve(false),
      });
    });
  }

  countForeign(receiver: string, records: number): void {
    this.#options.telemetry.countForeign(receiver, records);
  }

  reportProblem(receiver: string, problem: Diagnostic): void {
    if (this.#closed) return;
    const at = this.#options.clock.wallNow();
    this.#enqueue({
      weight: 1,
      bytes: 0,
      receiver,
      run: (commit) => {
        this.#appendDiagnostic(commit, { at, receiver, diagnostic: problem });
        return () => {};
      },
      refuse: () => {},
    });
  }

  /** Brings the store's projection up to date with every acknowledged input. @returns whether it is. */
  checkpoint(): boolean {
    const { state } = this.#options;
    if (state.uncheckpointedInputs === 0) return true;
    return this.#transaction(() => state.writeCheckpoint(), () => state.checkpointed());
  }

  /** Makes everything that was received durable, then refuses what comes later. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#queue.length > 0) await new Promise<void>((resolve) => this.#drained.push(resolve));
    this.checkpoint();
  }

  #admission(origin: Origin): Refusal | undefined {
    const refusal = this.#refusalOf(origin);
    if (refusal !== undefined) this.#options.telemetry.countRefusal(origin.receiver, refusal.kind);
    return refusal;
  }

  #refusalOf(origin: Origin): Refusal | undefined {
    if (this.#closed) return { kind: "unavailable", retryable: true, reason: "the collector is shutting down" };
    // A request larger than the whole queue is let in alone, or it could never be taken at all.
    if (this.#queueBytes === 0 || this.#queueBytes + origin.bytes <= this.#maxQueueBytes) return undefined;
    return { kind: "overloaded", retryAfterSeconds: RETRY_AFTER_SECONDS };
  }

  #enqueue(job: Job): void {
    this.#queue.push(job);
    this.#addQueueBytes(job.bytes);
    this.#schedule();
  }

  #addQueueBytes(bytes: number): void {
    this.#queueBytes += bytes;
    this.#options.telemetry.setQueue(this.#queueBytes);
  }

  #schedule(): void {
    if (this.#scheduled || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
      this.#schedule();
      if (this.#queue.length === 0) for (const resolve of this.#drained.splice(0)) resolve();
    });
  }

  #flush(): void {
    const jobs = this.#takeJobs();
    this.#commit(jobs);
    for (const job of jobs) this.#addQueueBytes(-job.bytes);
    const { state } = this.#options;
    if (state.uncheckpointedInputs >= CHECKPOINT_AFTER_INPUTS) this.checkpoint();
  }

  #commit(jobs: readonly Job[]): void {
    const { state, clock, telemetry, publisher, onFolded } = this.#options;
    const commit: Commit = { results: [], updates: [], inputs: 0, diagnostics: 0 };
    const startedAt = clock.monotonicNow();
    let acknowledgements: readonly (() => void)[] = [];
    const committed = this.#transaction(
      () => {
        acknowledgements = jobs.map((job) => job.run(commit));
      },
      () => {
        for (const [index, update] of commit.updates.entries()) {
          const result = commit.results[index] as FoldResult;
          state.accept(update.inputId, result);
          onFolded(result);
        }
      },
      (failure) => {
        state.undo(commit.results);
        this.#refuse(jobs, failure);
      },
    );
    if (!committed) return;
    telemetry.observeCommit(clock.monotonicNow() - startedAt, commit.inputs);
    for (const acknowledge of acknowledgements) acknowledge();
    publisher.publish(commit.updates);
  }

  /** A broken store refuses everybody, who may try again. A job that breaks the fold must not take others with it. */
  #refuse(jobs: readonly Job[], { isStoreBroken, reason }: Failure): void {
    if (!isStoreBroken && jobs.length > 1) {
      for (const job of jobs) this.#commit([job]);
      return;
    }
    for (const job of jobs) {
      this.#options.telemetry.countRefusal(job.receiver, "unavailable");
      job.refuse({ kind: "unavailable", retryable: isStoreBroken, reason });
    }
  }

  #takeJobs(): readonly Job[] {
    let weight = 0;
    let count = 0;
    for (const job of this.#queue) {
      if (count > 0 && weight + job.weight > MAX_EVENTS_PER_COMMIT) break;
      weight += job.weight;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** Runs `work` in one transaction. What follows a commit is never undone by it: `onCommitted` runs outside. */
  #transaction(work: () => void, onCommitted: () => void, onFailed: (failure: Failure) => void = () => {}): boolean {
    const { store, onError } = this.#options;
    try {
      store.begin();
      work();
      store.commit();
    } catch (error) {
      this.#rollback();
      const broken = store.explain(error);
      if (broken !== undefined) this.#unavailable = broken.message;
      onError("a commit failed; nothing of it was acknowledged", error);
      onFailed({ isStoreBroken: broken !== undefined, reason: broken?.message ?? "the input could not be processed" });
      return false;
    }
    this.#unavailable = undefined;
    onCommitted();
    return true;
  }

  #rollback(): void {
    try {
      this.#options.store.rollback();
    } catch (error) {
      this.#options.onError("a rollback failed", error);
    }
  }

  #fold(commit: Commit, arrival: Arrival, origin: Origin, receivedAt: number): EventOutcome {
    const { receiver } = origin;
    if (!arrival.valid) {
      const { diagnostic, source, childId } = arrival;
      this.#appendDiagnostic(commit, { at: receivedAt, receiver, diagnostic, ...claimed(source, childId) });
      return { status: "rejected", diagnostics: [diagnostic] };
    }
    const result = this.#foldEvent(commit, arrival, origin, receivedAt);
    const diagnostics = [...result.diagnostics.map(({ code }): Diagnostic => ({ code })), ...arrival.diagnostics];
    const { source, childId } = arrival.event;
    for (const diagnostic of diagnostics) {
      this.#appendDiagnostic(commit, { at: receivedAt, receiver, diagnostic, source, childId });
    }
    return { status: result.status, diagnostics };
  }

  #foldEvent(commit: Commit, arrival: EventArrival, origin: Origin, receivedAt: number): FoldResult {
    const { store, state } = this.#options;
    const { event, canonicalContent } = arrival;
    const known = state.recallChild(event.source, event.childId);
    const question = identityQuestion(known, event);
    const identity = question === undefined ? "new" : store.answerIdentity(question, canonicalContent);
    const input: ProjectionInput = { type: "event", event, receivedAt, backfill: origin.backfill, identity };
    const result = fold(state.projection, input);
    if (result.status !== "deduplicated") {
      const childKey = (result.changes[0]?.after ?? known)?.key;
      this.#append(commit, input, result, childKey, canonicalContent);
    }
    return result;
  }

  #foldSnapshot(commit: Commit, snapshot: LifecycleSnapshot, origin: Origin, receivedAt: number): FoldResult {
    const { store, state, snapshotPolicyOf } = this.#options;
    const identity = store.answerIdentity(snapshotIdentityQuestion(snapshot), "") === "new" ? "new" : "same";
    const policy = snapshotPolicyOf(snapshot.source);
    const input: ProjectionInput = { type: "snapshot", snapshot, receivedAt, identity, policy };
    state.recall(input);
    const result = fold(state.projection, input);
    if (result.status !== "deduplicated") this.#append(commit, input, result, undefined);
    for (const { code, childId } of result.diagnostics) {
      const about = claimed(snapshot.source, childId === "" ? undefined : childId);
      this.#appendDiagnostic(commit, { at: receivedAt, receiver: origin.receiver, diagnostic: { code }, ...about });
    }
    return result;
  }

  #foldVerdict(commit: Commit, verdict: ProjectionInput): void {
    const { state, telemetry } = this.#options;
    state.recall(verdict);
    const result = fold(state.projection, verdict);
    // A verdict that evidence overtook changed nothing, and would change nothing on a replay.
    if (result.changes.length === 0) return;
    const isAboutOne = verdict.type === "stale" || verdict.type === "reconciliation";
    this.#append(commit, verdict, result, isAboutOne ? result.changes[0]?.after.key : undefined);
    if (verdict.type === "stale") telemetry.countVerdict("stale");
    if (verdict.type === "reconciliation") {
      telemetry.countVerdict(verdict.outcome === "failed" ? "lost" : "unavailable");
    }
  }

  #append(
    commit: Commit,
    input: ProjectionInput,
    result: FoldResult,
    childKey: number | undefined,
    canonicalContent?: string,
  ): void {
    const { store } = this.#options;
    commit.results.push(result);
    const inputId = store.append({
      input,
      childKey,
      status: result.status,
      diagnostic: result.diagnostics[0]?.code,
      ...(canonicalContent === undefined ? undefined : { canonicalContent }),
    });
    for (const entry of result.audit) {
      const changed = result.changes.find(({ after }) => after.childId === entry.childId);
      if (changed !== undefined) store.appendAudit(inputId, changed.after.key, entry);
    }
    commit.updates.push({ inputId, changes: result.changes, audit: result.audit });
    commit.inputs += 1;
  }

  #appendDiagnostic(commit: Commit, diagnostic: StoredDiagnostic): void {
    const { store, telemetry } = this.#options;
    telemetry.countDiagnostic(diagnostic.diagnostic.code);
    commit.diagnostics += 1;
    if (commit.diagnostics > MAX_DIAGNOSTICS_PER_COMMIT) return;
    store.appendDiagnostic(diagnostic);
    if (commit.diagnostics === 1) store.trimDiagnostics(MAX_STORED_DIAGNOSTICS);
  }

  #countOutcomes(receiver: string, outcomes: readonly EventOutcome[]): void {
    const counts = new Map<EventOutcome["status"], number>();
    for (const { status } of outcomes) counts.set(status, (counts.get(status) ?? 0) + 1);
    for (const [status, events] of counts) this.#options.telemetry.countEvents(receiver, status, events);
  }
}

function claimed(source: string | undefined, childId: string | undefined): { source?: string; childId?: string } {
  return { ...(source === undefined ? undefined : { source }), ...(childId === undefined ? undefined : { childId }) };
}
