import type { SupportLevel } from "@agent-lifecycle/proto";
import type { AskingStatus, AskReason, AuthorityAnswer, AuthorityStatement, ChildRecord } from "../core/index.ts";
import type { Component } from "./component.ts";
import type { Origin } from "./intake.ts";

/** Who hands a snapshot over. */
export type SnapshotOrigin = Pick<Origin, "receiver" | "sender">;

/** Who an authority is. */
export interface AuthorityIdentity {
  /** The component that speaks for the source. */
  readonly id: string;
  /** Its type, such as `http` or `push`. */
  readonly kind: string;
  readonly supportLevel: SupportLevel;
  /** The source that it answers for. */
  readonly source: string;
}

/** The one that can be relied on to know all children of a source (contract section 5). One for each source at most. */
export interface Authority extends Component, AuthorityIdentity {
  readonly status: AskingStatus;
  /** A question has arisen, or it can be asked again: it is asked as soon as may be, if it can be asked at all. */
  want(reason: AskReason): void;
  /** The collector was away itself: what was said before answers nothing that is asked now. */
  resumed(): void;
  /** Why a snapshot of its source is not taken from there, or `undefined` when it is the authority's own. */
  objectionTo(origin: SnapshotOrigin): string | undefined;
  /** A snapshot that it handed over is stored. */
  stored(statement: AuthorityStatement): void;
  /** A snapshot that it handed over cannot be used. @param why in words, bounded, without secrets */
  rejected(why: string): void;
  /** What it had to say about a child since the open question about it arose (S6). */
  answerAbout(record: ChildRecord): AuthorityAnswer;
}

/**
 * Counted once for each question, or for each snapshot that is pushed. `rejected`: something came, and it cannot be used.
 * `failed`: nothing came. `not_stored`: it is the collector that could not take it.
 */
export const ASKING_OUTCOMES = ["answered", "failed", "rejected", "timed_out", "not_stored"] as const;

export type AskingOutcome = (typeof ASKING_OUTCOMES)[number];
