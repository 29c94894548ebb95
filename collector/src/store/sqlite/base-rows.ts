import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type ChildRecord, serializeRecord } from "../../core/index.ts";
import type { BaseMove, LogBase, StoredChild } from "../store.ts";
import { storedChildOf } from "./child-queries.ts";
import type { MetaRows } from "./meta-rows.ts";
import { SnapshotEpochRows } from "./snapshot-epoch-rows.ts";

const META_NAME = "base";

/** What the removed inputs had folded to. */
export class BaseRows {
  readonly #database: DatabaseSync;
  readonly #meta: MetaRows;
  readonly #epochs: SnapshotEpochRows;
  readonly #one: StatementSync;
  readonly #upsert: StatementSync;
  readonly #delete: StatementSync;

  constructor(database: DatabaseSync, meta: MetaRows) {
    this.#database = database;
    this.#meta = meta;
    this.#epochs = new SnapshotEpochRows(database, "base_snapshot_epochs");
    this.#one = database.prepare(
      "SELECT child_key, updated_input_id, record FROM base_children WHERE source = ? AND child_id = ?",
    );
    this.#upsert = database.prepare(
      `INSERT INTO base_children (child_key, source, child_id, updated_input_id, record) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (child_key) DO UPDATE SET updated_input_id = excluded.updated_input_id, record = excluded.record`,
    );
    this.#delete = database.prepare("DELETE FROM base_children WHERE child_key = ?");
  }

  load(): LogBase {
    const stored = this.#meta.read(META_NAME);
    const beginning = stored === undefined ? NOTHING_REMOVED : (JSON.parse(stored) as StoredBeginning);
    const { inputId, at, nextKey, resumption } = beginning;
    return { inputId, at, nextKey, resumption, snapshotEpochs: this.#epochs.all() };
  }

  child(source: string, childId: string): StoredChild | undefined {
    const row = this.#one.get(source, childId);
    return row === undefined ? undefined : storedChildOf(row);
  }

  *children(source?: string): Generator<StoredChild> {
    const columns = "SELECT child_key, updated_input_id, record FROM base_children";
    const rows =
      source === undefined
        ? this.#database.prepare(`${columns} ORDER BY child_key`).iterate()
        : this.#database.prepare(`${columns} WHERE source = ?`).iterate(source);
    for (const row of rows) yield storedChildOf(row);
  }

  *misfiled(): Generator<ChildRecord> {
    const rows = this.#database.prepare("SELECT * FROM base_children ORDER BY child_key").iterate();
    for (const row of rows) {
      const { record } = storedChildOf(row);
      const isFiledRight =
        row["child_key"] === record.key && row["source"] === record.source && row["child_id"] === record.childId;
      if (!isFiledRight) yield record;
    }
  }

  move({ inputId, at, nextKey, resumption, records, snapshotEpochs }: BaseMove): void {
    for (const { record, updatedInputId } of records) {
      this.#upsert.run(record.key, record.source, record.childId, updatedInputId, serializeRecord(record));
    }
    this.#epochs.write(snapshotEpochs);
    this.#meta.write(META_NAME, JSON.stringify({ inputId, at, nextKey, resumption } satisfies StoredBeginning));
  }

  delete(childKey: number): void {
    this.#delete.run(childKey);
  }
}

type StoredBeginning = Omit<LogBase, "snapshotEpochs">;

const NOTHING_REMOVED: StoredBeginning = { inputId: 0, at: undefined, nextKey: 0, resumption: undefined };
