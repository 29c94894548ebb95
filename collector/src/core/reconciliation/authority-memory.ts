import type { ChildRecord } from "../projection/child-record.ts";
import { type AuthorityStatement, answerAbout } from "./authority-statement.ts";
import type { AuthorityAnswer } from "./outcome.ts";

/** How it went with an authority so far. Times in milliseconds since the epoch. */
export interface AuthorityRecord {
  readonly answers: number;
  readonly failures: number;
  /** Failures since the last answer. */
  readonly failuresInARow: number;
  readonly lastAnsweredAt: number | undefined;
  readonly lastFailedAt: number | undefined;
  /** In words, bounded by whoever reports it. Gone with the next answer. */
  readonly lastFailure: string | undefined;
  /** The newest statement, also one that does not count as an answer any more. */
  readonly statement: AuthorityStatement | undefined;
}

/** What an authority said last, and how often it failed to. */
export class AuthorityMemory {
  #answers = 0;
  #failures = 0;
  #failuresInARow = 0;
  #lastAnsweredAt: number | undefined;
  #lastFailedAt: number | undefined;
  #lastFailure: string | undefined;
  #statement: AuthorityStatement | undefined;
  /** When the newest statement that counts was asked for. */
  #askedAt: number | undefined;

  get record(): AuthorityRecord {
    return {
      answers: this.#answers,
      failures: this.#failures,
      failuresInARow: this.#failuresInARow,
      lastAnsweredAt: this.#lastAnsweredAt,
      lastFailedAt: this.#lastFailedAt,
      lastFailure: this.#lastFailure,
      statement: this.#statement,
    };
  }

  /**
   * It made a statement, and that is stored.
   * @param askedAt when it was asked, or when an answer came that nobody had asked for; `undefined`: an absence of the
   * collector lies between, and it is no answer to any question that is open now
   */
  answered(statement: AuthorityStatement, askedAt: number | undefined, now: number): void {
    this.#answers += 1;
    this.#failuresInARow = 0;
    this.#lastAnsweredAt = now;
    this.#lastFailure = undefined;
    this.#statement = statement;
    this.#askedAt = askedAt;
  }

  /** No answer came, or one that could not be used. @param failure in words, without secrets */
  failed(failure: string, now: number): void {
    this.#failures += 1;
    this.#failuresInARow += 1;
    this.#lastFailedAt = now;
    this.#lastFailure = failure;
  }

  /** The collector was away, or its clock was set: every open question begins anew, and what was said before answers none. */
  resumed(): void {
    this.#askedAt = undefined;
  }

  /**
   * What there is at its deadline to the open question about a child (S6). Only an answer that was asked for after the
   * question arose counts: an older one may have been taken before the child fell silent.
   */
  answerAbout(record: ChildRecord): AuthorityAnswer {
    const requestedAt = record.reconciliation?.requestedAt ?? Number.POSITIVE_INFINITY;
    if (this.#statement === undefined || this.#askedAt === undefined || this.#askedAt < requestedAt)
      return "unreachable";
    return answerAbout(this.#statement, record);
  }
}
