import type { SupportLevel } from "@agent-lifecycle/proto";
import {
  type AskingStatus,
  type AuthorityAnswer,
  AuthorityMemory,
  type AuthorityStatement,
  type ChildRecord,
} from "../core/index.ts";
import type { AskingOutcome, Authority, AuthorityIdentity, SnapshotOrigin } from "./authority.ts";
import type { Clock } from "./clock.ts";

export interface PushAuthorityOptions extends AuthorityIdentity {
  readonly clock: Clock;
  /** The receiver that its snapshots come in by. */
  readonly receiver: string;
  /** Name of the only credentials whose snapshots are taken. Default: any that may speak for the source. */
  readonly sender?: string | undefined;
  /** How often a snapshot is promised. Below the time a reconciliation waits. Milliseconds. */
  readonly intervalMs: number;
  readonly onOutcome: (outcome: AskingOutcome, durationMs: number) => void;
}

/** An authority that cannot be asked: it sends its snapshots by itself, and silence by the deadline is no answer. */
export class PushAuthority implements Authority {
  readonly id: string;
  readonly kind: string;
  readonly supportLevel: SupportLevel;
  readonly source: string;
  readonly #options: PushAuthorityOptions;
  readonly #memory = new AuthorityMemory();
  #nextDueAt: number;

  constructor(options: PushAuthorityOptions) {
    const { id, kind, supportLevel, source, clock, intervalMs } = options;
    this.id = id;
    this.kind = kind;
    this.supportLevel = supportLevel;
    this.source = source;
    this.#options = options;
    this.#nextDueAt = clock.wallNow() + intervalMs;
  }

  get status(): AskingStatus {
    return { ...this.#memory.record, inFlightSince: undefined, nextDueAt: this.#nextDueAt };
  }

  async start(): Promise<void> {}

  async shutdown(): Promise<void> {}

  want(): void {}

  resumed(): void {
    this.#memory.resumed();
    this.#expectNext();
  }

  objectionTo({ receiver, sender }: SnapshotOrigin): string | undefined {
    const { receiver: expected, sender: only } = this.#options;
    if (receiver !== expected)
      return `snapshots of ${this.source} are taken from ${this.id} alone, and that sends them`;
    if (only === undefined || sender === only) return undefined;
    return `snapshots of ${this.source} are taken from the token that ${this.id} names alone`;
  }

  stored(statement: AuthorityStatement): void {
    const now = this.#options.clock.wallNow();
    this.#memory.answered(statement, now, now);
    this.#expectNext();
    this.#options.onOutcome("answered", 0);
  }

  rejected(why: string): void {
    this.#memory.failed(why, this.#options.clock.wallNow());
    this.#options.onOutcome("rejected", 0);
  }

  answerAbout(record: ChildRecord): AuthorityAnswer {
    return this.#memory.answerAbout(record);
  }

  #expectNext(): void {
    const { clock, intervalMs } = this.#options;
    this.#nextDueAt = clock.wallNow() + intervalMs;
  }
}
