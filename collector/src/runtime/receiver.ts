import type { Diagnostic } from "@agent-lifecycle/proto";
import type { Component } from "./component.ts";
import type { ComponentContext } from "./component-context.ts";
import type { EventsIntake, SnapshotIntake } from "./intake.ts";

/** What a receiver says of the candidates it hands over. Its own name is put on them by the collector. */
export interface Delivery {
  /** Old evidence: from a journal, a file or a replay. It says nothing about now (S1). */
  readonly backfill: boolean;
  /** Size of what was received, for admission control. Bytes, at least 0. */
  readonly bytes: number;
  /** The sources that the sender may speak for. Without it: any. */
  readonly allowedSources?: ReadonlySet<string>;
}

/**
 * The door, as one receiver sees it: whatever comes through it is normalized, redacted and stamped like everything else.
 * The promises resolve after the commit and not before: what was answered `stored` is durable. They do not reject;
 * `overloaded`, `rate_limited` and a retryable `unavailable` may be offered again.
 * @throws TypeError at once for arguments that are no candidates or no delivery: a mistake of the receiver's author.
 */
export interface ReceiverIntake {
  /** One outcome for each candidate, in order. A bad candidate costs nothing but itself. */
  acceptEvents(candidates: readonly unknown[], delivery: Delivery): Promise<EventsIntake>;
  /** One snapshot of contract section 5. */
  acceptSnapshot(candidate: unknown, delivery: Delivery): Promise<SnapshotIntake>;
  /** Records that are not ours: accepted, counted, not stored. */
  countForeign(records: number): void;
  /** Input that never became a candidate, such as a malformed line. The text is redacted and cut here. */
  reportProblem(problem: Diagnostic): void;
}

export interface ReceiverContext extends ComponentContext {
  readonly intake: ReceiverIntake;
}

/**
 * Makes a receiver that is not started yet. A module exports it as `createReceiver`.
 * @param options what the configuration says of it, valid by the module's `optionsSchema`, with its defaults laid in
 */
export type ReceiverFactory<Options> = (context: ReceiverContext, options: Options) => Component | Promise<Component>;
