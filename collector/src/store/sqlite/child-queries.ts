import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { isTerminal } from "@agent-lifecycle/proto";
import { type ChildRecord, isProvisional, parseRecord, serializeRecord } from "../../core/index.ts";
import type { ChildrenQuery, StoredChild } from "../store.ts";
import { DamagedRowError } from "./database-error.ts";

const STORED_COLUMNS = "child_key, record, updated_input_id";

/** Writes and reads rows of `children`. */
export class ChildQueries {
  readonly #database: DatabaseSync;
  readonly #upsert: ReturnType<DatabaseSync["prepare"]>;
  readonly #one: ReturnType<DatabaseSync["prepare"]>;
  readonly #changedSince: ReturnType<DatabaseSync["prepare"]>;
  readonly #delete: ReturnType<DatabaseSync["prepare"]>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#upsert = database.prepare(`
      INSERT INTO children
        (child_key, source, child_id, root_child_id, state, live, stale, provisional, search, updated_input_id, record)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (child_key) DO UPDATE SET
        root_child_id = excluded.root_child_id, state = excluded.state, live = excluded.live, stale = excluded.stale,
        provisional = excluded.provisional, search = excluded.search, updated_input_id = excluded.updated_input_id,
        record = excluded.record`);
    this.#one = database.prepare(`SELECT ${STORED_COLUMNS} FROM children WHERE source = ? AND child_id = ?`);
    this.#delete = database.prepare("DELETE FROM children WHERE child_key = ?");
    this.#changedSince = database.prepare(
      `SELECT ${STORED_COLUMNS} FROM children WHERE updated_input_id > ? AND state IS NOT NULL
       ORDER BY updated_input_id LIMIT ?`,
    );
  }

  write(record: ChildRecord, updatedInputId: number): void {
    this.#upsert.run(...filedUnder(record), updatedInputId, serializeRecord(record));
  }

  delete(childKey: number): void {
    this.#delete.run(childKey);
  }

  read(source: string, childId: string): StoredChild | undefined {
    const row = this.#one.get(source, childId);
    return row === undefined ? undefined : storedChildOf(row);
  }

  live(): Generator<StoredChild> {
    return this.#iterate("WHERE live = 1");
  }

  every(source?: string): Generator<StoredChild> {
    return source === undefined ? this.#iterate("") : this.#iterate("WHERE source = ?", source);
  }

  *misfiled(): Generator<ChildRecord> {
    const statement = this.#database.prepare(
      `SELECT child_key, source, child_id, root_child_id, state, live, stale, provisional, search, record
       FROM children ORDER BY child_key`,
    );
    for (const { record: text, ...columns } of statement.iterate()) {
      const record = recordOf(text, columns["child_key"]);
      const expected = filedUnder(record);
      if (Object.values(columns).some((value, index) => value !== expected[index])) yield record;
    }
  }

  *#iterate(where: string, ...operands: SQLInputValue[]): Generator<StoredChild> {
    const statement = this.#database.prepare(`SELECT ${STORED_COLUMNS} FROM children ${where} ORDER BY child_key`);
    for (const row of statement.iterate(...operands)) yield storedChildOf(row);
  }

  list(query: ChildrenQuery): readonly ChildRecord[] {
    const conditions = ["state IS NOT NULL"];
    const values: SQLInputValue[] = [];
    const where = (condition: string, ...operands: SQLInputValue[]): void => {
      conditions.push(condition);
      values.push(...operands);
    };
    if (query.states !== undefined) where(`state IN (${query.states.map(() => "?").join(", ")})`, ...query.states);
    if (query.source !== undefined) where("source = ?", query.source);
    if (query.rootChildId !== undefined) where("root_child_id = ?", query.rootChildId);
    if (query.stale !== undefined) where("stale = ?", query.stale ? 1 : 0);
    if (query.provisional !== undefined) where("provisional = ?", query.provisional ? 1 : 0);
    if (query.text !== undefined) where("instr(search, ?) > 0", query.text.toLowerCase());
    if (query.beforeKey !== undefined) where("child_key < ?", query.beforeKey);
    const rows = this.#database
      .prepare(
        `SELECT ${STORED_COLUMNS} FROM children WHERE ${conditions.join(" AND ")} ORDER BY child_key DESC LIMIT ?`,
      )
      .all(...values, query.limit);
    return rows.map((row) => storedChildOf(row).record);
  }

  changedSince(inputId: number, limit: number): readonly StoredChild[] {
    return this.#changedSince.all(inputId, limit).map(storedChildOf);
  }
}

/** The columns by which a record is found and counted, in the order of the table. */
function filedUnder(record: ChildRecord): readonly (string | number | null)[] {
  return [
    record.key,
    record.source,
    record.childId,
    record.lineage.rootChildId,
    record.state ?? null,
    isTerminal(record.state) ? 0 : 1,
    record.stale === undefined ? 0 : 1,
    isProvisional(record) ? 1 : 0,
    searchText(record),
  ];
}

function searchText(record: ChildRecord): string {
  const { facts } = record;
  const parts = [record.childId, facts?.name, facts?.agentType, facts?.tool, record.activity];
  return parts
    .filter((part) => part !== undefined)
    .join("\n")
    .toLowerCase();
}

/** @throws DamagedRowError that names the child by its key. */
export function storedChildOf(row: Readonly<Record<string, SQLOutputValue>>): StoredChild {
  return { record: recordOf(row["record"], row["child_key"]), updatedInputId: row["updated_input_id"] as number };
}

function recordOf(text: SQLOutputValue | undefined, childKey: SQLOutputValue | undefined): ChildRecord {
  try {
    return parseRecord(text as string);
  } catch (error) {
    throw new DamagedRowError(`the record of child ${String(childKey)}`, error);
  }
}
