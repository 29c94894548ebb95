import type { Diagnostic, LifecycleSnapshot } from "@agent-lifecycle/proto";
import {
  type AskReason,
  type AuthorityAnswer,
  type ChildChange,
  type ChildRecord,
  type InputStatus,
  statementOf,
} from "../core/index.ts";
import type { Authority, SnapshotOrigin } from "./authority.ts";
import { refusalInWords } from "./authority-failure.ts";
import type { Component } from "./component.ts";

/** Two components would both be the authority of one source. */
export class AuthorityConflictError extends Error {
  constructor(source: string, first: string, second: string) {
    super(`${first} and ${second} would both be the authority of the source ${source}: a source has one at most`);
    this.name = "AuthorityConflictError";
  }
}

/** Who may state what is there of a source, and who is told that it was stored. The door asks and tells. */
export interface SnapshotAuthorities {
  /** Why snapshots of a source are not taken from there, or `undefined`. */
  objectionTo(source: string, origin: SnapshotOrigin): string | undefined;
  stored(snapshot: LifecycleSnapshot, origin: SnapshotOrigin, status: InputStatus): void;
  /** A snapshot that says to be of this source cannot be used. */
  rejected(source: string, origin: SnapshotOrigin, why: Diagnostic | undefined): void;
}

/** All authorities, one for each source that has any. They are added before the start. */
export class Authorities implements Component, SnapshotAuthorities {
  readonly #bySource = new Map<string, Authority>();

  /** @throws AuthorityConflictError when the source has one already. */
  add(authority: Authority): void {
    const known = this.#bySource.get(authority.source);
    if (known !== undefined) throw new AuthorityConflictError(authority.source, known.id, authority.id);
    this.#bySource.set(authority.source, authority);
  }

  get all(): readonly Authority[] {
    return [...this.#bySource.values()];
  }

  of(source: string): Authority | undefined {
    return this.#bySource.get(source);
  }

  async start(): Promise<void> {
    await Promise.all(this.all.map((authority) => authority.start()));
  }

  async shutdown(): Promise<void> {
    await Promise.all(this.all.map((authority) => authority.shutdown()));
  }

  /** Asks the authority of a source as soon as may be. Nothing happens where there is none. */
  want(source: string, reason: AskReason): void {
    this.#bySource.get(source)?.want(reason);
  }

  /** Keeps up with the projection: a child about which a question opens is asked about. */
  observe({ before, after }: ChildChange): void {
    if (after.reconciliation === undefined || after.reconciliation === before?.reconciliation) return;
    this.want(after.source, "stale");
  }

  /** The collector was away: every authority is asked anew. */
  resumed(): void {
    for (const authority of this.#bySource.values()) authority.resumed();
  }

  /** What the authority of the child's source had to say since the open question about it arose (S6). */
  answerAbout(record: ChildRecord): AuthorityAnswer {
    return this.#bySource.get(record.source)?.answerAbout(record) ?? "none";
  }

  objectionTo(source: string, origin: SnapshotOrigin): string | undefined {
    return this.#bySource.get(source)?.objectionTo(origin);
  }

  stored(snapshot: LifecycleSnapshot, origin: SnapshotOrigin, status: InputStatus): void {
    const authority = this.#bySource.get(snapshot.source);
    if (authority === undefined || authority.objectionTo(origin) !== undefined) return;
    const known = authority.status.statement;
    // A2: under one identifier there is one statement, the first.
    const isRepeated = status === "deduplicated" && known?.snapshotId === snapshot.snapshotId;
    authority.stored(isRepeated ? known : statementOf(snapshot, status === "out_of_order"));
  }

  /** What others send in its name says nothing about the authority. */
  rejected(source: string, origin: SnapshotOrigin, why: Diagnostic | undefined): void {
    const authority = this.#bySource.get(source);
    if (authority?.objectionTo(origin) === undefined) authority?.rejected(refusalInWords(why));
  }
}
