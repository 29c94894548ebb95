import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { State } from "@agent-lifecycle/proto";
import {
  type AuditEntry,
  type ChildRecord,
  createSummary,
  type IdentityAnswer,
  type IdentityQuestion,
  type Summary,
} from "../../core/index.ts";
import type { AdminActionStore } from "../admin-actions.ts";
import {
  type AppendedInput,
  type BaseMove,
  type Checkpoint,
  type ChildrenQuery,
  type LoadedCheckpoint,
  type LogBase,
  type Store,
  type StoredAudit,
  type StoredChild,
  type StoredDiagnostic,
  type StoredInput,
  type StoredResumption,
  type StoreReader,
  StoreUnavailableError,
} from "../store.ts";
import { createSqliteAdminActions } from "./admin-actions.ts";
import { AuditRows } from "./audit-rows.ts";
import { BaseRows } from "./base-rows.ts";
import { ChildQueries } from "./child-queries.ts";
import { DamagedRowError, isDamage, isDriverError, unavailable } from "./database-error.ts";
import { createDatabaseFile } from "./database-file.ts";
import { DiagnosticRows } from "./diagnostic-rows.ts";
import { InputLog } from "./input-log.ts";
import { MetaRows } from "./meta-rows.ts";
import { closeUntouched, openDatabase, type SqliteStoreOptions } from "./open-database.ts";
import { SnapshotEpochRows } from "./snapshot-epoch-rows.ts";
import { lockForWriting } from "./writer-lock.ts";

/** The embedded store. Beside the inputs it keeps what administrators did. */
export interface DatabaseStore extends Store {
  /** Opened when first asked for. @throws StoreUnavailableError when the file cannot be used. */
  adminActions(): AdminActionStore;
}

/** Opens the embedded store. @throws StoreUnavailableError when the file cannot be used. */
export function openSqliteStore(options: SqliteStoreOptions): DatabaseStore {
  if (options.readOnly === true) return createStore(options, () => {});
  createDatabaseFile(options.path);
  const lock = lockForWriting(options.path);
  try {
    return createStore(options, lock.release);
  } catch (error) {
    lock.discard();
    throw error;
  }
}

function createStore(options: SqliteStoreOptions, unlock: () => void): DatabaseStore {
  const database = openDatabase(options);
  try {
    return new SqliteStore(database, options.path, unlock);
  } catch (error) {
    if (isDamage(error)) closeUntouched(database, options.path);
    else database.close();
    throw isDriverError(error) ? unavailable(error, options.path) : error;
  }
}

class SqliteStore implements DatabaseStore {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #unlock: () => void;
  readonly #meta: MetaRows;
  readonly #log: InputLog;
  readonly #children: ChildQueries;
  readonly #epochs: SnapshotEpochRows;
  readonly #base: BaseRows;
  readonly #audit: AuditRows;
  readonly #diagnostics: DiagnosticRows;
  readonly #sources: StatementSync;
  readonly #counts: StatementSync;
  #nextInputId: number;
  /** The newest input that is committed. */
  #committedInputId: number;
  #damage: StoreUnavailableError | undefined;
  #adminActions: AdminActionStore | undefined;

  constructor(database: DatabaseSync, path: string, unlock: () => void) {
    this.#database = database;
    this.#unlock = unlock;
    this.#path = path;
    this.#meta = new MetaRows(database);
    this.#log = new InputLog(database);
    this.#children = new ChildQueries(database);
    this.#epochs = new SnapshotEpochRows(database, "snapshot_epochs");
    this.#base = new BaseRows(database, this.#meta);
    this.#audit = new AuditRows(database);
    this.#diagnostics = new DiagnosticRows(database);
    this.#sources = database.prepare(
      "SELECT source, count(*) AS children FROM children GROUP BY source ORDER BY source",
    );
    this.#counts = database.prepare(
      `SELECT state, count(*) AS children, sum(live) AS live, sum(stale) AS stale, sum(provisional) AS provisional
       FROM children GROUP BY state`,
    );
    this.#committedInputId = this.lastInputId();
    this.#nextInputId = this.#committedInputId + 1;
  }

  adminActions(): AdminActionStore {
    this.#adminActions ??= createSqliteAdminActions(this.#database, this.#path);
    return this.#adminActions;
  }

  begin(): void {
    if (this.#damage !== undefined) throw this.#damage;
    this.#database.exec("BEGIN IMMEDIATE");
  }

  commit(): void {
    this.#database.exec("COMMIT");
    this.#committedInputId = this.#nextInputId - 1;
  }

  explain(error: unknown): StoreUnavailableError | undefined {
    if (error instanceof StoreUnavailableError) return error;
    return isDriverError(error) ? this.#explained(error) : undefined;
  }

  explainUnreadable(error: unknown): StoreUnavailableError | undefined {
    return error instanceof DamagedRowError ? this.#explained(error) : this.explain(error);
  }

  #explained(error: unknown): StoreUnavailableError {
    const explained = unavailable(error, this.#path);
    if (isDamage(error)) this.#damage ??= explained;
    return explained;
  }

  rollback(): void {
    this.#nextInputId = this.#committedInputId + 1;
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }

  append(appended: AppendedInput): number {
    const inputId = this.#nextInputId;
    this.#log.append(inputId, appended);
    this.#nextInputId = inputId + 1;
    return inputId;
  }

  appendAudit(inputId: number, childKey: number, entry: AuditEntry): void {
    this.#audit.append(inputId, childKey, entry);
  }

  appendDiagnostic(diagnostic: StoredDiagnostic): void {
    this.#diagnostics.append(diagnostic);
  }

  answerIdentity(question: IdentityQuestion, canonicalContent: string): IdentityAnswer {
    return this.#log.answerIdentity(question, canonicalContent);
  }

  checkpoint({ inputId, records, snapshotEpochs, resumption, nextKey }: Checkpoint): void {
    for (const { record, updatedInputId } of records) this.#children.write(record, updatedInputId);
    this.#epochs.write(snapshotEpochs);
    if (resumption !== undefined) this.#meta.write("resumption", JSON.stringify(resumption));
    this.#meta.write("next_key", String(nextKey));
    this.#meta.write("checkpoint", String(inputId));
  }

  loadChild(source: string, childId: string): StoredChild | undefined {
    return this.#children.read(source, childId);
  }

  loadCheckpoint(): LoadedCheckpoint {
    const resumption = this.#meta.read("resumption");
    return {
      inputId: Number(this.#meta.read("checkpoint") ?? 0),
      resumption: resumption === undefined ? undefined : (JSON.parse(resumption) as StoredResumption),
      liveChildren: this.#children.live(),
      snapshotEpochs: this.#epochs.all(),
      nextKey: Number(this.#meta.read("next_key") ?? 0),
      summary: this.#summary(),
    };
  }

  everyChild(source?: string): Iterable<StoredChild> {
    return this.#children.every(source);
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

  inputs(afterInputId: number): Iterable<StoredInput> {
    return this.#log.after(afterInputId);
  }

  loadBase(): LogBase {
    return this.#base.load();
  }

  baseChild(source: string, childId: string): StoredChild | undefined {
    return this.#base.child(source, childId);
  }

  baseChildren(source?: string): Iterable<StoredChild> {
    return this.#base.children(source);
  }

  misfiledBaseChildren(): Iterable<ChildRecord> {
    return this.#base.misfiled();
  }

  removeInputs(throughInputId: number): void {
    this.#log.removeThrough(throughInputId);
  }

  moveBase(move: BaseMove): void {
    this.#base.move(move);
  }

  isSpokenOf(record: ChildRecord): boolean {
    return this.#log.speaksOf(record);
  }

  letGo({ key }: ChildRecord): void {
    this.#children.delete(key);
    this.#base.delete(key);
    this.#audit.deleteOf(key);
  }

  usedBytes(): number {
    return (this.#pragma("page_count") - this.#pragma("freelist_count")) * this.#pragma("page_size");
  }

  inputsOfChild(childKey: number, afterInputId: number, limit: number): readonly StoredInput[] {
    return this.#log.ofChild(childKey, afterInputId, limit);
  }

  children(query: ChildrenQuery): readonly ChildRecord[] {
    return this.#children.list(query);
  }

  childrenChangedSince(inputId: number, limit: number): readonly StoredChild[] {
    return this.#children.changedSince(inputId, limit);
  }

  audit(query: Parameters<StoreReader["audit"]>[0]): readonly StoredAudit[] {
    return this.#audit.read(query);
  }

  diagnostics(query: Parameters<StoreReader["diagnostics"]>[0]): ReturnType<StoreReader["diagnostics"]> {
    return this.#diagnostics.read(query);
  }

  sources(): readonly { readonly source: string; readonly children: number }[] {
    return this.#sources.all().map((row) => ({ source: row["source"] as string, children: row["children"] as number }));
  }

  lastInputId(): number {
    return this.#log.newestInputId() ?? this.#base.load().inputId;
  }

  trimDiagnostics(kept: number): void {
    this.#diagnostics.trim(kept);
  }

  hasDiagnosticsBefore(at: number): boolean {
    return this.#diagnostics.hasBefore(at);
  }

  dropDiagnosticsBefore(at: number): void {
    this.#diagnostics.dropBefore(at);
  }

  close(): void {
    if (this.#damage === undefined) this.#database.close();
    else closeUntouched(this.#database, this.#path);
    this.#unlock();
  }

  #pragma(name: string): number {
    return this.#database.prepare(`PRAGMA ${name}`).get()?.[name] as number;
  }

  #summary(): Summary {
    const summary = createSummary();
    for (const row of this.#counts.all()) {
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
}
