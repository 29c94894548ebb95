import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Single facts about the database, by name. */
export class MetaRows {
  readonly #read: StatementSync;
  readonly #write: StatementSync;

  constructor(database: DatabaseSync) {
    this.#read = database.prepare("SELECT value FROM meta WHERE name = ?");
    this.#write = database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)");
  }

  read(name: string): string | undefined {
    const row = this.#read.get(name);
    return row === undefined ? undefined : (row["value"] as string);
  }

  write(name: string, value: string): void {
    this.#write.run(name, value);
  }
}
