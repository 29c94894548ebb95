import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type Diagnostic, parseCanonicalEvent, type State } from "@agent-lifecycle/proto";
import {
  type AuditEntry,
  type ChildRecord,
  createSummary,
  type IdentityAnswer,
  type IdentityQuestion,
  INPUT_STATUSES,
  identityKey,
  parseSnapshotEpoch,
  type SnapshotEpoch,
  type Summary,
  serializeSnapshotEpoch,
} from "../../core/index.ts";
import {
  type AppendedInput,
  type Checkpoint,
  type ChildrenQuery,
  type LoadedCheckpoint,
  type Store,
  type StoredAudit,
  type StoredChild,
  type StoredDiagnostic,
  type StoredInput,
  type StoredResumption,
  StoreUnavailableError,
} from "../store.ts";
import { ChildQueries } from "./child-queries.ts";
import { createDatabaseFile } from "./database-file.ts";
import { epochDigest, type InputRow, rowOf, storedInputOf } from "./input-rows.ts";
import { isDriverError, openDatabase, type SqliteStoreOptions, unavailable } from "./open-database.ts";
import { lockForWriting } from "./writer-lock.ts";

/** Opens the embedded store. @throws StoreUnavailableError when the file cannot be used. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  if (options.readOnly === true) return new SqliteStore(openDatabase(options), options.path, () => {});
  createDatabaseFile(options.path);
  const lock = lockForWriting(options.path);
  try {
    return new SqliteStore(openDatabase(options), options.path, lock.release);
  } catch (error) {
    lock.discard();
    throw error;
  }
}

const CONFLICT = INPUT_STATUSES.indexOf("conflict");

class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #unlock: () => void;
  readonly #children: ChildQueries;
  readonly #statements = new Map<string, StatementSync>();
  readonly #insertInput: StatementSync;
  #nextInputId: number;
  /** The newest input that is committed. */
  #committedInputId: number;

  constructor(database: DatabaseSync, path: string, unlock: () => void) {
    this.#database = database;
    this.#unlock = unlock;
    this.#path = path;
    this.#children = new ChildQueries(database);
    this.#insertInput = database.prepare("INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#committedInputId = this.lastInputId();
    this.#nextInputId = this.#committedInputId + 1;
  }

  begin(): void {
    this.#database.exec("BEGIN IMMEDIATE");
  }

  commit(): void {
    this.#database.exec("COMMIT");
    this.#committedInputId = this.#nextInputId - 1;
  }

  explain(error: unknown): StoreUnavailableError | undefined {
    if (error instanceof StoreUnavailableError) return error;
    return isDriverError(error) ? unavailable(error, this.#path) : undefined;
  }

  rollback(): void {
    this.#nextInputId = this.#committedInputId + 1;
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }

  append(appended: AppendedInput): number {
    const inputId = this.#nextInputId;
    const row = rowOf(inputId, appended);
    this.#insertInput.run(
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
    this.#nextInputId = inputId + 1;
    return inputId;
  }

  appendAudit(inputId: number, childKey: number, entry: AuditEntry): void {
    this.#statement("INSERT INTO audit (input_id, child_key, entry) VALUES (?, ?, ?)").run(
      inputId,
      childKey,
      JSON.stringify(entry),
    );
  }

  appendDiagnostic({ at, receiver, diagnostic, source, childId }: StoredDiagnostic): void {
    this.#statement(
      "INSERT INTO diagnostics (at, receiver, code, source, child_id, diagnostic) VALUES (?, ?, ?, ?, ?, ?)",
    ).run(at, receiver, diagnostic.code, source ?? null, childId ?? null, JSON.stringify(diagnostic));
  }

  answerIdentity(question: IdentityQuestion, canonicalContent: string): IdentityAnswer {
    const stored = question.by === "sequence" ? this.#contentBySequence(question) : this.#contentByKey(question);
    if (stored === undefined) return "new";
    return stored === canonicalContent ? "same" : "different";
  }

  #contentByKey(question: IdentityQuestion): string | undefined {
    const row = this.#statement("SELECT payload FROM inputs WHERE identity = ?").get(identityKey(question));
    return row === undefined ? undefined : (row["payload"] as string);
  }

  #contentBySequence(question: IdentityQuestion & { readonly by: "sequence" }): string | undefined {
    if (question.childKey === undefined) return undefined;
    const rows = this.#statement(
      `SELECT payload FROM inputs
       WHERE child_key = ? AND sequence = ? AND epoch_digest = ? AND status <> ${CONFLICT} ORDER BY input_id`,
    ).all(question.childKey, question.sequence, epochDigest(question.sourceEpoch));
    for (const row of rows) {
      const payload = row["payload"] as string;
      if (parseCanonicalEvent(payload).sourceEpoch === question.sourceEpoch) return payload;
    }
    return undefined;
  }

  checkpoint({ inputId, records, snapshotEpochs, resumption }: Checkpoint): void {
    for (const { record, updatedInputId } of records) this.#children.write(record, updatedInputId);
    for (const [source, epoch] of snapshotEpochs) {
      this.#statement("INSERT OR REPLACE INTO snapshot_epochs (source, epoch) VALUES (?, ?)").run(
        source,
        serializeSnapshotEpoch(epoch),
      );
    }
    if (resumption !== undefined) this.#setMeta("resumption", JSON.stringify(resumption));
    this.#setMeta("checkpoint", String(inputId));
  }

  loadChild(source: string, childId: string): ChildRecord | undefined {
    return this.#children.read(source, childId);
  }

  loadCheckpoint(): LoadedCheckpoint {
    const resumption = this.#meta("resumption");
    const highest = this.#statement("SELECT max(child_key) AS key FROM children").get()?.["key"];
    return {
      inputId: Number(this.#meta("checkpoint") ?? 0),
      resumption: resumption === undefined ? undefined : (JSON.parse(resumption) as StoredResumption),
      liveChildren: this.#children.live(),
      snapshotEpochs: this.#snapshotEpochs(),
      nextKey: typeof highest === "number" ? highest + 1 : 0,
      summary: this.#summary(),
    };
  }

  everyChild(): Iterable<StoredChild> {
    return this.#children.every();
  }

  misfiledChildren(): Iterable<ChildRecord> {
    return this.#children.misfiled();
  }

  consistently<Result>(reads: () => Result): Result {
    this.#database.exec("BEGIN");
    try {
      return reads();
    } finally {
      this.#database.exec("COMMIT");
    }
  }

  #meta(name: string): string | undefined {
    const row = this.#statement("SELECT value FROM meta WHERE name = ?").get(name);
    return row === undefined ? undefined : (row["value"] as string);
  }

  #setMeta(name: string, value: string): void {
    this.#statement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)").run(name, value);
  }

  #snapshotEpochs(): ReadonlyMap<string, SnapshotEpoch> {
    const rows = this.#statement("SELECT source, epoch FROM snapshot_epochs").all();
    return new Map(rows.map((row) => [row["source"] as string, parseSnapshotEpoch(row["epoch"] as string)]));
  }

  #summary(): Summary {
    const summary = createSummary();
    const rows = this.#statement(
      `SELECT state, count(*) AS children, sum(live) AS live, sum(stale) AS stale, sum(provisional) AS provisional
       FROM children GROUP BY state`,
    ).all();
    for (const row of rows) {
      const children = row["children"] as number;
      if (row["state"] === null) {
        summary.stateUnknown = children;
        continue;
      }
      summary.byState[row["state"] as State] = children;
      summary.started += children;
      summary.live += row["live"] as number;
      summary.stale += row["stale"] as number;
      summary.provisional += row["provisional"] as number;
    }
    return summary;
  }

  *inputs(afterInputId: number): Generator<StoredInput> {
    const statement = this.#database.prepare("SELECT * FROM inputs WHERE input_id > ? ORDER BY input_id");
    for (const row of statement.iterate(afterInputId)) yield storedInputOf(row as unknown as InputRow);
  }

  inputsOfChild(childKey: number, afterInputId: number, limit: number): readonly StoredInput[] {
    return this.#statement("SELECT * FROM inputs WHERE child_key = ? AND input_id > ? ORDER BY input_id LIMIT ?")
      .all(childKey, afterInputId, limit)
      .map((row) => storedInputOf(row as unknown as InputRow));
  }

  children(query: ChildrenQuery): readonly ChildRecord[] {
    return this.#children.list(query);
  }

  childrenChangedSince(inputId: number, limit: number): readonly StoredChild[] {
    return this.#children.changedSince(inputId, limit);
  }

  audit(query: {
    readonly childKey?: number;
    readonly afterInputId: number;
    readonly limit: number;
  }): readonly StoredAudit[] {
    const rows =
      query.childKey === undefined
        ? this.#statement("SELECT * FROM audit WHERE input_id > ? ORDER BY audit_id LIMIT ?").all(
            query.afterInputId,
            query.limit,
          )
        : this.#statement("SELECT * FROM audit WHERE child_key = ? AND input_id > ? ORDER BY audit_id LIMIT ?").all(
            query.childKey,
            query.afterInputId,
            query.limit,
          );
    return rows.map((row) => ({
      inputId: row["input_id"] as number,
      entry: JSON.parse(row["entry"] as string) as AuditEntry,
    }));
  }

  diagnostics(query: {
    readonly beforeId?: number;
    readonly code?: string;
    readonly limit: number;
  }): readonly (StoredDiagnostic & { readonly id: number })[] {
    const { beforeId = Number.MAX_SAFE_INTEGER, code, limit } = query;
    return this.#statement(
      `SELECT * FROM diagnostics WHERE diagnostic_id < ?1 AND (?2 IS NULL OR code = ?2)
       ORDER BY diagnostic_id DESC LIMIT ?3`,
    )
      .all(beforeId, code ?? null, limit)
      .map((row) => ({
        id: row["diagnostic_id"] as number,
        at: row["at"] as number,
        receiver: row["receiver"] as string,
        diagnostic: JSON.parse(row["diagnostic"] as string) as Diagnostic,
        ...(row["source"] === null ? undefined : { source: row["source"] as string }),
        ...(row["child_id"] === null ? undefined : { childId: row["child_id"] as string }),
      }));
  }

  sources(): readonly { readonly source: string; readonly children: number }[] {
    return this.#statement("SELECT source, count(*) AS children FROM children GROUP BY source ORDER BY source")
      .all()
      .map((row) => ({ source: row["source"] as string, children: row["children"] as number }));
  }

  lastInputId(): number {
    const row = this.#statement("SELECT max(input_id) AS last FROM inputs").get();
    return typeof row?.["last"] === "number" ? row["last"] : 0;
  }

  trimDiagnostics(kept: number): void {
    this.#statement(
      "DELETE FROM diagnostics WHERE diagnostic_id <= (SELECT max(diagnostic_id) FROM diagnostics) - ?",
    ).run(kept);
  }

  close(): void {
    this.#database.close();
    this.#unlock();
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const prepared = this.#database.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}
