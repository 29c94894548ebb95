import type { AuthorityAnswer } from "./outcome.ts";

/** Why an authority is to be asked. */
export type AskReason = "session_open" | "reconnect" | "interval" | "stale";

/** When an authority is asked. All times in milliseconds. */
export interface AskingPolicy {
  /** Between the end of one answer and the next question that nobody asked for. Default 30,000. */
  readonly intervalMs: number;
  /** At least so long between two questions, however many ask: a thousand children that go stale together cost one. Default 250. */
  readonly pauseMs: number;
  /** After a first failure; doubled with each further one. Default 1,000. */
  readonly retryMs: number;
  /** The longest wait after failures. Default 60,000. */
  readonly maxRetryMs: number;
}

export const DEFAULT_ASKING_POLICY: AskingPolicy = {
  intervalMs: 30_000,
  pauseMs: 250,
  retryMs: 1_000,
  maxRetryMs: 60_000,
};

/** What an authority said: whom it speaks for, and whom it names. */
export interface AuthorityStatement {
  readonly epoch: string;
  /** It names every child that it covers and that is there. Only then its silence about a child says something. */
  readonly isComplete: boolean;
  readonly coverage: "all" | ReadonlySet<string>;
  readonly listed: ReadonlySet<string>;
}

/** One question on its way. */
export interface Question {
  readonly askedAt: number;
  readonly reasons: readonly AskReason[];
}

/** What is known of the asking itself, for displays. Times in milliseconds since the epoch. */
export interface AskingStatus {
  readonly answers: number;
  readonly failures: number;
  /** Failures since the last answer. */
  readonly failuresInARow: number;
  readonly lastAnsweredAt: number | undefined;
  readonly lastFailedAt: number | undefined;
  /** In words, bounded by whoever reports it. Gone with the next answer. */
  readonly lastFailure: string | undefined;
  readonly epoch: string | undefined;
  readonly inFlightSince: number | undefined;
  /** `undefined` while a question is on its way. */
  readonly nextDueAt: number | undefined;
}

/** Spread of every wait, so that many collectors do not ask at the same moment: up to a fifth longer. */
const JITTER = 0.2;

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
  #answers = 0;
  #failures = 0;
  #failuresInARow = 0;
  #lastAnsweredAt: number | undefined;
  #lastFailedAt: number | undefined;
  #lastFailure: string | undefined;
  #newest: { readonly askedAt: number; readonly statement: AuthorityStatement } | undefined;

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
      answers: this.#answers,
      failures: this.#failures,
      failuresInARow: this.#failuresInARow,
      lastAnsweredAt: this.#lastAnsweredAt,
      lastFailedAt: this.#lastFailedAt,
      lastFailure: this.#lastFailure,
      epoch: this.#newest?.statement.epoch,
      inFlightSince: this.#asked?.askedAt,
      nextDueAt: this.#asked === undefined ? this.#nextDueAt : undefined,
    };
  }

  /** Asks for a question as soon as may be. Those that come together share one. */
  want(reason: AskReason, now: number): void {
    this.#waiting.add(reason);
    // Who comes back may have answers again: what failed before does not count against that.
    if (reason === "session_open" || reason === "reconnect") this.#notBefore = Number.NEGATIVE_INFINITY;
    this.#nextDueAt = Math.min(this.#nextDueAt, Math.max(now, this.#notBefore));
  }

  /** The question that is due at `now`, which is then on its way; `undefined` when none is, or one is on its way already. */
  take(now: number): Question | undefined {
    if (this.#asked !== undefined || now < this.#nextDueAt) return undefined;
    const reasons: readonly AskReason[] = this.#waiting.size === 0 ? ["interval"] : [...this.#waiting];
    this.#waiting.clear();
    this.#asked = { askedAt: now, reasons };
    return this.#asked;
  }

  /** The question was answered, and the answer is stored. */
  answered(question: Question, statement: AuthorityStatement, now: number): void {
    if (!this.#close(question)) return;
    this.#answers += 1;
    this.#failuresInARow = 0;
    this.#lastAnsweredAt = now;
    this.#lastFailure = undefined;
    this.#newest = { askedAt: question.askedAt, statement };
    this.#plan(now, this.#policy.pauseMs, this.#policy.intervalMs);
  }

  /** No answer came, or one that could not be used. @param failure in words, without secrets */
  failed(question: Question, failure: string, now: number): void {
    if (!this.#close(question)) return;
    this.#failures += 1;
    this.#failuresInARow += 1;
    this.#lastFailedAt = now;
    this.#lastFailure = failure;
    const { retryMs, maxRetryMs } = this.#policy;
    const waitMs = Math.min(maxRetryMs, retryMs * 2 ** Math.min(this.#failuresInARow - 1, 30));
    this.#plan(now, waitMs, waitMs);
  }

  /**
   * What there is at its deadline to a question about a child (S6). Only an answer that was asked for after the question
   * arose counts: an older one may have been taken before the child fell silent.
   */
  answerAbout(childId: string, requestedAt: number): AuthorityAnswer {
    const newest = this.#newest;
    if (newest === undefined || newest.askedAt < requestedAt) return "unreachable";
    const { listed, isComplete, coverage } = newest.statement;
    if (listed.has(childId)) return "lists_child";
    const isCovered = coverage === "all" || coverage.has(childId);
    return isComplete && isCovered ? "omits_child" : "says_nothing";
  }

  #close(question: Question): boolean {
    if (this.#asked !== question) return false;
    this.#asked = undefined;
    return true;
  }

  #plan(now: number, pauseMs: number, intervalMs: number): void {
    this.#notBefore = now + this.#spread(pauseMs);
    this.#nextDueAt = this.#waiting.size > 0 ? this.#notBefore : now + this.#spread(Math.max(pauseMs, intervalMs));
  }

  #spread(waitMs: number): number {
    return waitMs * (1 + JITTER * this.#random());
  }
}
