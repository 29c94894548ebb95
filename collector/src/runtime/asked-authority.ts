import type { SupportLevel } from "@agent-lifecycle/proto";
import {
  type AskingPolicy,
  type AskingStatus,
  type AskReason,
  type AuthorityAnswer,
  AuthoritySchedule,
  type AuthorityStatement,
  type ChildRecord,
  type Question,
} from "../core/index.ts";
import type { AskingOutcome, Authority, AuthorityIdentity, SnapshotOrigin } from "./authority.ts";
import { failureInWords, refusalInWords } from "./authority-failure.ts";
import type { Clock } from "./clock.ts";
import type { Intake } from "./intake.ts";
import { type Schedule, scheduleUnreferenced } from "./schedule.ts";
import type { SnapshotSource } from "./snapshot-source.ts";

export interface AskedAuthorityOptions extends Omit<AuthorityIdentity, "source"> {
  readonly snapshotSource: SnapshotSource;
  /** The one door. */
  readonly intake: Pick<Intake, "acceptSnapshot">;
  readonly clock: Clock;
  readonly policy: AskingPolicy;
  /** An answer that takes longer is no answer. Below the time a reconciliation waits. Milliseconds. */
  readonly timeoutMs: number;
  /** @param durationMs from the question until its answer was stored, or it came to nothing */
  readonly onOutcome: (outcome: AskingOutcome, durationMs: number) => void;
  /** In [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: timers that keep no process alive. */
  readonly schedule?: Schedule;
}

type Attempt =
  | { readonly outcome: "answered"; readonly statement: AuthorityStatement }
  | { readonly outcome: Exclude<AskingOutcome, "answered">; readonly failure: string };

/**
 * Asks the authority of one source when its schedule says so, and hands what it answers to the door like everything else
 * that is received. An answer counts when it is stored.
 */
export class AskedAuthority implements Authority {
  readonly id: string;
  readonly kind: string;
  readonly supportLevel: SupportLevel;
  readonly source: string;
  readonly #options: AskedAuthorityOptions;
  readonly #schedule: Schedule;
  readonly #asking: AuthoritySchedule;
  readonly #stop = new AbortController();
  #cancel: (() => void) | undefined;
  #underway: Promise<void> = Promise.resolve();
  /** A call that was given up and has not returned yet: the next one waits for it, since two never overlap. */
  #fetching: Promise<unknown> | undefined;
  #isHandingOver = false;
  #handedOver: AuthorityStatement | undefined;
  #isStarted = false;

  constructor(options: AskedAuthorityOptions) {
    const { id, kind, supportLevel, snapshotSource, clock, random = Math.random, policy } = options;
    this.id = id;
    this.kind = kind;
    this.supportLevel = supportLevel;
    this.source = snapshotSource.source;
    this.#options = options;
    this.#schedule = options.schedule ?? scheduleUnreferenced;
    this.#asking = new AuthoritySchedule(clock.wallNow(), random, policy);
  }

  get status(): AskingStatus {
    return this.#asking.status;
  }

  async start(): Promise<void> {
    await this.#options.snapshotSource.start();
    this.#isStarted = !this.#stop.signal.aborted;
    this.#plan();
  }

  async shutdown(): Promise<void> {
    this.#stop.abort();
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#underway;
    await this.#options.snapshotSource.shutdown();
  }

  want(reason: AskReason): void {
    this.#asking.want(reason, this.#options.clock.wallNow());
    this.#plan();
  }

  resumed(): void {
    this.#asking.resumed(this.#options.clock.wallNow());
    this.#plan();
  }

  objectionTo({ receiver }: SnapshotOrigin): string | undefined {
    return receiver === this.id ? undefined : `snapshots of ${this.source} are taken from ${this.id} alone`;
  }

  stored(statement: AuthorityStatement): void {
    if (this.#isHandingOver) this.#handedOver = statement;
    else this.#asking.heard(statement, this.#options.clock.wallNow());
  }

  /** The question that it answered so says it itself. */
  rejected(): void {}

  answerAbout(record: ChildRecord): AuthorityAnswer {
    return this.#asking.answerAbout(record);
  }

  #plan(): void {
    const { nextDueAt } = this.#asking.status;
    this.#cancel?.();
    this.#cancel = undefined;
    if (!this.#isStarted || this.#stop.signal.aborted || nextDueAt === undefined) return;
    const delayMs = Math.max(0, nextDueAt - this.#options.clock.wallNow());
    this.#cancel = this.#schedule(() => {
      this.#cancel = undefined;
      const question = this.#asking.take(this.#options.clock.wallNow());
      if (question === undefined) this.#plan();
      else this.#underway = this.#ask(question);
    }, delayMs);
  }

  async #ask(question: Question): Promise<void> {
    const { clock, onOutcome } = this.#options;
    const startedAt = clock.monotonicNow();
    const attempt = await this.#attempt();
    const now = clock.wallNow();
    if (attempt.outcome === "answered") this.#asking.answered(question, attempt.statement, now);
    else this.#asking.failed(question, attempt.failure, now);
    // A question that was cut off by our own end says nothing about the authority.
    if (!this.#stop.signal.aborted) onOutcome(attempt.outcome, clock.monotonicNow() - startedAt);
    this.#plan();
  }

  async #attempt(): Promise<Attempt> {
    const { timeoutMs } = this.#options;
    const timeout = new AbortController();
    const cancelTimeout = this.#schedule(() => timeout.abort(), timeoutMs);
    const signal = AbortSignal.any([timeout.signal, this.#stop.signal]);
    try {
      return await this.#handOver(await untilAborted(this.#fetch(signal), signal));
    } catch (error) {
      if (timeout.signal.aborted) return { outcome: "timed_out", failure: `no answer within ${timeoutMs} ms` };
      return { outcome: "failed", failure: failureInWords(error) };
    } finally {
      cancelTimeout();
    }
  }

  async #fetch(signal: AbortSignal): Promise<unknown> {
    await this.#fetching;
    signal.throwIfAborted();
    const fetching = (async () => this.#options.snapshotSource.fetch(signal))();
    this.#fetching = fetching.then(
      () => {},
      () => {},
    );
    return fetching;
  }

  async #handOver(candidate: unknown): Promise<Attempt> {
    const { intake, snapshotSource } = this.#options;
    const allowedSources = new Set([snapshotSource.source]);
    this.#isHandingOver = true;
    this.#handedOver = undefined;
    // What was received is stored even if the collector stops meanwhile.
    const result = await intake.acceptSnapshot(candidate, {
      receiver: this.id,
      backfill: false,
      bytes: 0,
      allowedSources,
    });
    this.#isHandingOver = false;
    if (result.kind !== "stored") return { outcome: "not_stored", failure: "its answer could not be stored" };
    if (this.#handedOver !== undefined) return { outcome: "answered", statement: this.#handedOver };
    return { outcome: "rejected", failure: refusalInWords(result.diagnostics[0]) };
  }
}

/** A source that does not listen to its signal must not hold up the collector's end, nor the next question's time. */
function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error("cut off"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
