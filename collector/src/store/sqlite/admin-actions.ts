import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { AdminAction, AdminActionStore, AdminOutcome, StoredAdminAction } from "../admin-actions.ts";
import { isDriverError, unavailable } from "./database-error.ts";

const CREATE_ADMIN_ACTIONS = `
CREATE TABLE IF NOT EXISTS admin_actions (
  action_id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  principal TEXT NOT NULL,
  action TEXT NOT NULL,
  address TEXT NOT NULL,
  outcome TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS admin_actions_by_outcome ON admin_actions (outcome = 'refused', action_id);
`;

const MAX_ACTIONS = 10_000;
const MAX_REFUSED = 1_000;

/**
 * Actions in a table of the collector's database. Uses the connection of the writer between its transactions, and has
 * one of its own for each call.
 * @throws StoreUnavailableError when the table cannot be created.
 */
export function createSqliteAdminActions(database: DatabaseSync, path: string): AdminActionStore {
  return explained(path, () => {
    database.exec(CREATE_ADMIN_ACTIONS);
    return new SqliteAdminActions(database, path);
  });
}

class SqliteAdminActions implements AdminActionStore {
  readonly #path: string;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #select: StatementSync;
  readonly #expire: StatementSync;

  constructor(database: DatabaseSync, path: string) {
    this.#path = path;
    this.#insert = database.prepare(
      "INSERT INTO admin_actions (at, principal, action, address, outcome, text) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#update = database.prepare("UPDATE admin_actions SET outcome = ?, text = ? WHERE action_id = ?");
    this.#select = database.prepare(
      `SELECT action_id, at, principal, action, address, outcome, text FROM admin_actions
       WHERE action_id < ? ORDER BY action_id DESC LIMIT ?`,
    );
    this.#expire = database.prepare(
      `DELETE FROM admin_actions WHERE (outcome = 'refused') = ?1 AND action_id <= (
         SELECT action_id FROM admin_actions WHERE (outcome = 'refused') = ?1 ORDER BY action_id DESC LIMIT 1 OFFSET ?2
       )`,
    );
  }

  append({ at, principal, action, address, outcome, text }: AdminAction): number {
    return explained(this.#path, () => {
      const { lastInsertRowid } = this.#insert.run(at, principal, action, address, outcome, text);
      const isRefused = outcome === "refused";
      this.#expire.run(isRefused ? 1 : 0, isRefused ? MAX_REFUSED : MAX_ACTIONS);
      return Number(lastInsertRowid);
    });
  }

  finish(id: number, outcome: AdminOutcome, text: string): void {
    explained(this.#path, () => this.#update.run(outcome, text, id));
  }

  list({
    limit,
    beforeId = Number.MAX_SAFE_INTEGER,
  }: {
    readonly limit: number;
    readonly beforeId?: number;
  }): readonly StoredAdminAction[] {
    return explained(this.#path, () => this.#select.all(beforeId, limit).map(actionOf));
  }
}

function actionOf(row: Record<string, unknown>): StoredAdminAction {
  return {
    id: Number(row["action_id"]),
    at: Number(row["at"]),
    principal: String(row["principal"]),
    action: String(row["action"]),
    address: String(row["address"]),
    outcome: row["outcome"] as AdminOutcome,
    text: String(row["text"]),
  };
}

function explained<Result>(path: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw isDriverError(error) ? unavailable(error, path) : error;
  }
}
