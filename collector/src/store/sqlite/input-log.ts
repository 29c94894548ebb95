import type { DatabaseSync, StatementSync } from "node:sqlite";
import { parseCanonicalEvent } from "@agent-lifecycle/proto";
import {
  type ChildRecord,
  type IdentityAnswer,
  type IdentityQuestion,
  INPUT_STATUSES,
  identityKey,
} from "../../core/index.ts";
import type { AppendedInput, StoredInput } from "../store.ts";
import { epochDigest, type InputRow, rowOf, storedInputOf } from "./input-rows.ts";

const CONFLICT = INPUT_STATUSES.indexOf("conflict");

/** Writes, finds and removes rows of `inputs`, and the mentions that go with them. */
export class InputLog {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #insertMention: StatementSync;
  readonly #byKey: StatementSync;
  readonly #bySequence: StatementSync;
  readonly #ofChild: StatementSync;
  readonly #newest: StatementSync;
  readonly #oneOfChild: StatementSync;
  readonly #oneMention: StatementSync;
  readonly #remove: StatementSync;
  readonly #removeMentions: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare("INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#insertMention = database.prepare("INSERT INTO mentions (source, child_id, input_id) VALUES (?, ?, ?)");
    this.#byKey = database.prepare("SELECT payload FROM inputs WHERE identity = ?");
    this.#bySequence = database.prepare(
      `SELECT payload FROM inputs
       WHERE child_key = ? AND sequence = ? AND epoch_digest = ? AND status <> ${CONFLICT} ORDER BY input_id`,
    );
    this.#ofChild = database.prepare(
      "SELECT * FROM inputs WHERE child_key = ? AND input_id > ? ORDER BY input_id LIMIT ?",
    );
    this.#newest = database.prepare("SELECT max(input_id) AS input_id FROM inputs");
    this.#oneOfChild = database.prepare("SELECT 1 FROM inputs WHERE child_key = ? LIMIT 1");
    this.#oneMention = database.prepare("SELECT 1 FROM mentions WHERE source = ? AND child_id = ? LIMIT 1");
    this.#remove = database.prepare("DELETE FROM inputs WHERE input_id <= ?");
    this.#removeMentions = database.prepare("DELETE FROM mentions WHERE input_id <= ?");
  }

  append(inputId: number, appended: AppendedInput): void {
    const row = rowOf(inputId, appended);
    this.#insert.run(
      row.input_id,
      row.type,
      row.child_key,
      row.at,
      row.backfill,
      row.sequence,
      row.epoch_digest,
      row.identity,
      row.status,
      row.diagnostic,
      row.payload,
    );
    const { input, listedEnded = [] } = appended;
    if (input.type !== "snapshot") return;
    for (const childId of listedEnded) this.#insertMention.run(input.snapshot.source, childId, inputId);
  }

  answerIdentity(question: IdentityQuestion, canonicalContent: string): IdentityAnswer {
    const stored = question.by === "sequence" ? this.#contentBySequence(question) : this.#contentByKey(question);
    if (stored === undefined) return "new";
    return stored === canonicalContent ? "same" : "different";
  }

  #contentByKey(question: IdentityQuestion): string | undefined {
    const row = this.#byKey.get(identityKey(question));
    return row === undefined ? undefined : (row["payload"] as string);
  }

  #contentBySequence(question: IdentityQuestion & { readonly by: "sequence" }): string | undefined {
    if (question.childKey === undefined) return undefined;
    const rows = this.#bySequence.all(question.childKey, question.sequence, epochDigest(question.sourceEpoch));
    for (const row of rows) {
      const payload = row["payload"] as string;
      if (parseCanonicalEvent(payload).sourceEpoch === question.sourceEpoch) return payload;
    }
    return undefined;
  }

  *after(inputId: number): Generator<StoredInput> {
    const statement = this.#database.prepare("SELECT * FROM inputs WHERE input_id > ? ORDER BY input_id");
    for (const row of statement.iterate(inputId)) yield storedInputOf(row as unknown as InputRow);
  }

  ofChild(childKey: number, afterInputId: number, limit: number): readonly StoredInput[] {
    return this.#ofChild.all(childKey, afterInputId, limit).map((row) => storedInputOf(row as unknown as InputRow));
  }

  /** `undefined` when there is none. */
  newestInputId(): number | undefined {
    const inputId = this.#newest.get()?.["input_id"];
    return typeof inputId === "number" ? inputId : undefined;
  }

  speaksOf({ key, source, childId }: ChildRecord): boolean {
    return this.#oneOfChild.get(key) !== undefined || this.#oneMention.get(source, childId) !== undefined;
  }

  removeThrough(inputId: number): void {
    this.#remove.run(inputId);
    this.#removeMentions.run(inputId);
  }
}
