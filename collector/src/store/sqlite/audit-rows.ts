import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { AuditEntry } from "../../core/index.ts";
import type { StoredAudit, StoreReader } from "../store.ts";

/** Writes and reads rows of `audit`. */
export class AuditRows {
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #all: StatementSync;
  readonly #ofChild: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare("INSERT INTO audit (input_id, child_key, entry) VALUES (?, ?, ?)");
    this.#delete = database.prepare("DELETE FROM audit WHERE child_key = ?");
    this.#all = database.prepare("SELECT * FROM audit WHERE input_id > ? ORDER BY audit_id LIMIT ?");
    this.#ofChild = database.prepare(
      "SELECT * FROM audit WHERE child_key = ? AND input_id > ? ORDER BY audit_id LIMIT ?",
    );
  }

  append(inputId: number, childKey: number, entry: AuditEntry): void {
    this.#insert.run(inputId, childKey, JSON.stringify(entry));
  }

  deleteOf(childKey: number): void {
    this.#delete.run(childKey);
  }

  read({ childKey, afterInputId, limit }: Parameters<StoreReader["audit"]>[0]): readonly StoredAudit[] {
    const rows =
      childKey === undefined ? this.#all.all(afterInputId, limit) : this.#ofChild.all(childKey, afterInputId, limit);
    return rows.map((row) => ({
      inputId: row["input_id"] as number,
      entry: JSON.parse(row["entry"] as string) as AuditEntry,
    }));
  }
}
