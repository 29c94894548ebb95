import { canonicalEvent, type LifecycleEvent, type LifecycleSnapshot } from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";
import { identityKey, identityOf, identityQuestion, snapshotIdentityQuestion } from "./identity.ts";
import type { FoldResult, IdentityAnswer } from "./input.ts";

const DEFAULT_MAX_IDENTITIES = 1_000_000;

/**
 * Answers identity questions from memory, for hosts that embed the projection without a store. Ask before a fold,
 * remember after it. An event refused as a conflict claims no identity; whatever the rules from P5 on say, it does.
 */
export class IdentityMemory {
  readonly #maxIdentities: number;
  /** Canonical content by identity; oldest claim first. */
  readonly #contents = new Map<string, string>();

  /**
   * @param maxIdentities how many are kept, 1,000,000 by default; beyond that the oldest are forgotten, and a duplicate
   * of a forgotten event is judged as new.
   */
  constructor(maxIdentities: number = DEFAULT_MAX_IDENTITIES) {
    this.#maxIdentities = maxIdentities;
  }

  /** P2, P3: whether this event was seen before. `record` is the event's child as it is before the fold. */
  answer(record: ChildRecord | undefined, event: LifecycleEvent): IdentityAnswer {
    const question = identityQuestion(record, event);
    const known = question === undefined ? undefined : this.#contents.get(identityKey(question));
    if (known === undefined) return "new";
    return known === canonicalEvent(event) ? "same" : "different";
  }

  /** A2: whether this snapshot was seen before. Its identifier alone decides. */
  answerSnapshot(snapshot: LifecycleSnapshot): IdentityAnswer {
    return this.#contents.has(identityKey(snapshotIdentityQuestion(snapshot))) ? "same" : "new";
  }

  /** Keeps what the event claimed, if its fold let it claim anything. */
  remember(event: LifecycleEvent, result: FoldResult): void {
    if (result.status === "deduplicated" || result.status === "conflict") return;
    this.#keep(identityKey(identityOf(event)), canonicalEvent(event));
  }

  rememberSnapshot(snapshot: LifecycleSnapshot): void {
    this.#keep(identityKey(snapshotIdentityQuestion(snapshot)), "");
  }

  #keep(key: string, content: string): void {
    if (this.#contents.has(key)) return;
    this.#contents.set(key, content);
    if (this.#contents.size <= this.#maxIdentities) return;
    const [oldest] = this.#contents.keys();
    if (oldest !== undefined) this.#contents.delete(oldest);
  }
}
