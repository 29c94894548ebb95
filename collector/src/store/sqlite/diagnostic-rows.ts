import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Diagnostic } from "@agent-lifecycle/proto";
import type { StoredDiagnostic, StoreReader } from "../store.ts";

/** Writes and reads rows of `diagnostics`. */
export class DiagnosticRows {
  readonly #insert: StatementSync;
  readonly #trim: StatementSync;
  readonly #oldest: StatementSync;
  readonly #dropBefore: StatementSync;
  readonly #read: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      "INSERT INTO diagnostics (at, receiver, code, source, child_id, diagnostic) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#trim = database.prepare(
      "DELETE FROM diagnostics WHERE diagnostic_id <= (SELECT max(diagnostic_id) FROM diagnostics) - ?",
    );
    this.#oldest = database.prepare("SELECT min(at) AS at FROM diagnostics");
    this.#dropBefore = database.prepare("DELETE FROM diagnostics WHERE at < ?");
    this.#read = database.prepare(
      `SELECT * FROM diagnostics WHERE diagnostic_id < ?1 AND (?2 IS NULL OR code = ?2)
       ORDER BY diagnostic_id DESC LIMIT ?3`,
    );
  }

  append({ at, receiver, diagnostic, source, childId }: StoredDiagnostic): void {
    this.#insert.run(at, receiver, diagnostic.code, source ?? null, childId ?? null, JSON.stringify(diagnostic));
  }

  trim(kept: number): void {
    this.#trim.run(kept);
  }

  hasBefore(at: number): boolean {
    const oldest = this.#oldest.get()?.["at"];
    return typeof oldest === "number" && oldest < at;
  }

  dropBefore(at: number): void {
    this.#dropBefore.run(at);
  }

  read({
    beforeId = Number.MAX_SAFE_INTEGER,
    code,
    limit,
  }: Parameters<StoreReader["diagnostics"]>[0]): ReturnType<StoreReader["diagnostics"]> {
    return this.#read.all(beforeId, code ?? null, limit).map((row) => ({
      id: row["diagnostic_id"] as number,
      at: row["at"] as number,
      receiver: row["receiver"] as string,
      diagnostic: JSON.parse(row["diagnostic"] as string) as Diagnostic,
      ...(row["source"] === null ? undefined : { source: row["source"] as string }),
      ...(row["child_id"] === null ? undefined : { childId: row["child_id"] as string }),
    }));
  }
}
