import type { DatabaseSync, StatementSync } from "node:sqlite";
import { parseSnapshotEpoch, type SnapshotEpoch, serializeSnapshotEpoch } from "../../core/index.ts";

/** The snapshot epochs of sources: those of the checkpoint, or those of the log's base. */
export class SnapshotEpochRows {
  readonly #read: StatementSync;
  readonly #write: StatementSync;

  constructor(database: DatabaseSync, table: "snapshot_epochs" | "base_snapshot_epochs") {
    this.#read = database.prepare(`SELECT source, epoch FROM ${table}`);
    this.#write = database.prepare(`INSERT OR REPLACE INTO ${table} (source, epoch) VALUES (?, ?)`);
  }

  all(): ReadonlyMap<string, SnapshotEpoch> {
    return new Map(
      this.#read.all().map((row) => [row["source"] as string, parseSnapshotEpoch(row["epoch"] as string)]),
    );
  }

  write(epochs: ReadonlyMap<string, SnapshotEpoch>): void {
    for (const [source, epoch] of epochs) this.#write.run(source, serializeSnapshotEpoch(epoch));
  }
}
