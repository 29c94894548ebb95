import type { ChildRecord } from "../projection/child-record.ts";
import { AuthorityMemory, type AuthorityRecord } from "./authority-memory.ts";
import type { AuthorityStatement } from "./authority-statement.ts";
import type { AuthorityAnswer } from "./outcome.ts";

/** Why an authority is to be asked. `resumed`: the collector was away itself. */
export type AskReason = "session_open" | "reconnect" | "interval" | "stale" | "resumed";

/** When an authority is asked. All times in milliseconds. */
export interface AskingPolicy {
  /** Between the end of one answer and the next question that nobody asked for. Default 30,000. */
  readonly intervalMs: number;
  /** At least so long between two questions, however many ask: a thousand children that go stale together cost one. Default 1,000. */
  readonly pauseMs: number;
  /** After a first failure; doubled with each further one. Default 1,000. */
  readonly retryMs: number;
  /** The longest wait after failures. Default 10,000: well within the time that a question waits for its answer. */
  readonly maxRetryMs: number;
}

export const DEFAULT_ASKING_POLICY: AskingPolicy = {
  intervalMs: 30_000,
  pauseMs: 1_000,
  retryMs: 1_000,
  maxRetryMs: 10_000,
};

/** One question on its way. */
export interface Question {
  readonly askedAt: number;
  readonly reasons: readonly AskReason[];
}

/** What is known of the asking itself, for displays. Times in milliseconds since the epoch. */
export interface AskingStatus extends AuthorityRecord {
  readonly inFlightSince: number | undefined;
  /** When the next word is due; `undefined` while a question is on its way. */
  readonly nextDueAt: number | undefined;
}

/** Spread of every wait, so that many collectors do not ask at the same moment: up to a fifth longer. */
export const ASKING_JITTER = 0.2;

/**
 * When to ask the authority of one source, and what its answers say about a child. One question is on its way at a time:
 * what is asked for meanwhile waits for the next one, since an answer may have been taken before that.
 */
export class AuthoritySchedule {
  readonly #policy: AskingPolicy;
  readonly #random: () => number;
  readonly #waiting = new Set<AskReason>();
  #asked: Question | undefined;
  #nextDueAt: number;
  /** Nothing is asked before: the pause after an answer, or the wait after a failure. */
  #notBefore = Number.NEGATIVE_INFINITY;
  readonly #memory = new AuthorityMemory();
  #wasAwaySinceAsked = false;

  /**
   * @param now of the collector's clock; a first question is due at once
   * @param random in [0, 1)
   */
  constructor(now: number, random: () => number, policy: AskingPolicy = DEFAULT_ASKING_POLICY) {
    this.#policy = policy;
    this.#random = random;
    this.#nextDueAt = now;
    this.#waiting.add("session_open");
  }

  get status(): AskingStatus {
    return {
      ...this.#memory.record,
      inFlightSince: this.#asked?.askedAt,
      nextDueAt: this.#asked === undefined ? this.#nextDueAt : undefined,
    };
  }

  /** Asks for a question as soon as may be. Those that come together share one. */
  want(reason: AskReason, now: number): void {
    this.#waiting.add(reason);
    if (isReturn(reason)) this.#notBefore = Number.NEGATIVE_INFINITY;
    this.#nextDueAt = Math.min(this.#nextDueAt, Math.max(now, this.#notBefore));
  }

  /** The collector was away, or its clock was set: nothing that was asked before answers what is asked now. */
  resumed(now: number): void {
    this.#memory.resumed();
    this.#wasAwaySinceAsked = true;
    // A time of the clock as it was before means nothing by the clock as it is.
    this.#nextDueAt = now;
    this.want("resumed", now);
  }

  /** The question that is due at `now`, which is then on its way; `undefined` when none is, or one is on its way already. */
  take(now: number): Question | undefined {
    if (this.#asked !== undefined || now < this.#nextDueAt) return undefined;
    const reasons: readonly AskReason[] = this.#waiting.size === 0 ? ["interval"] : [...this.#waiting];
    this.#waiting.clear();
    this.#asked = { askedAt: now, reasons };
    this.#wasAwaySinceAsked = false;
    return this.#asked;
  }

  /** The question was answered, and the answer is stored. */
  answered(question: Question, statement: AuthorityStatement, now: number): void {
    if (!this.#close(question)) return;
    this.#memory.answered(statement, this.#wasAwaySinceAsked ? undefined : question.askedAt, now);
    this.#plan(now, this.#policy.pauseMs, this.#policy.intervalMs);
  }

  /** It said something that nobody had asked for, and that is stored. */
  heard(statement: AuthorityStatement, now: number): void {
    this.#memory.answered(statement, now, now);
  }

  /** No answer came, or one that could not be used. @param failure in words, without secrets */
  failed(question: Question, failure: string, now: number): void {
    if (!this.#close(question)) return;
    this.#memory.failed(failure, now);
    const { failuresInARow } = this.#memory.record;
    const { retryMs, maxRetryMs } = this.#policy;
    const waitMs = Math.min(maxRetryMs, retryMs * 2 ** Math.min(failuresInARow - 1, 30));
    this.#plan(now, waitMs, waitMs);
  }

  /** What there is at its deadline to the open question about a child (S6). */
  answerAbout(record: ChildRecord): AuthorityAnswer {
    return this.#memory.answerAbout(record);
  }

  #close(question: Question): boolean {
    if (this.#asked !== question) return false;
    this.#asked = undefined;
    return true;
  }

  #plan(now: number, pauseMs: number, intervalMs: number): void {
    this.#notBefore = [...this.#waiting].some(isReturn) ? now : now + this.#spread(pauseMs);
    this.#nextDueAt = this.#waiting.size > 0 ? this.#notBefore : now + this.#spread(Math.max(pauseMs, intervalMs));
  }

  #spread(waitMs: number): number {
    return Math.round(waitMs * (1 + ASKING_JITTER * this.#random()));
  }
}

/** Who comes back may have answers again: what failed before does not count against that. */
function isReturn(reason: AskReason): boolean {
  return reason === "session_open" || reason === "reconnect" || reason === "resumed";
}
