import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { type Finding, ok, problem, sentenceOf, warning } from "./finding.ts";

const MAX_FAULTS = 10;
/** A newest input this far in the future cannot come from clocks that are a little apart. Milliseconds. */
const MAX_AHEAD_MS = 60_000;

/**
 * Whether the database can be used: its version, every page and index of it, and whether the clock has fallen behind what
 * is stored. Only reads; a collector may be writing meanwhile.
 * @param now milliseconds since the epoch
 */
export function checkDatabase(path: string, now: number): readonly Finding[] {
  const database = resolve(path);
  if (!existsSync(database)) return [ok("database", `${database} is not there yet: the first start makes it`)];
  if (statSync(database).size === 0) return [ok("database", `${database} is empty: the first start fills it`)];
  const opened = open(database, now);
  // A damaged database may still open: every page is looked at all the same.
  return [...opened, ...checkIntegrity(database)];
}

function open(database: string, now: number): readonly Finding[] {
  try {
    const store = openSqliteStore({ path: database, readOnly: true });
    try {
      const inputs = store.lastInputId();
      const text = `${database} opens; its newest input is ${inputs}`;
      return [ok("database", text), ...checkNewest(newestTime(store.inputs(inputs - 1)), now)];
    } finally {
      store.close();
    }
  } catch (error) {
    return [problem("database", sentenceOf(error), "see the message; nothing was changed")];
  }
}

function newestTime(inputs: ReturnType<ReturnType<typeof openSqliteStore>["inputs"]>): number | undefined {
  for (const { input } of inputs) return "receivedAt" in input ? input.receivedAt : input.at;
  return undefined;
}

function checkNewest(newest: number | undefined, now: number): readonly Finding[] {
  if (newest === undefined || newest - now <= MAX_AHEAD_MS) return [];
  const text = `the newest input is from ${new Date(newest).toISOString()}, which is still to come`;
  return [warning("clock", text, "the clock was set back: set it right, or wait; ages are wrong until then")];
}

function checkIntegrity(path: string): readonly Finding[] {
  const advice =
    `stop the collector and keep a copy of ${path} and ${path}-wal; then restore a backup, ` +
    'or save what can be read with the ".recover" command of sqlite3';
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    const rows = database.prepare(`PRAGMA integrity_check(${MAX_FAULTS})`).all();
    const faults = rows.map((row) => String(row["integrity_check"])).filter((text) => text !== "ok");
    if (faults.length === 0) return [ok("database", "every page and index of it is sound")];
    const more = faults.length === MAX_FAULTS ? " and more" : "";
    return [problem("database", `${path} is damaged: ${faults.join("; ").replaceAll("\n", "; ")}${more}`, advice)];
  } catch (error) {
    return [problem("database", `${path} cannot be read through: ${sentenceOf(error)}`, advice)];
  } finally {
    database?.close();
  }
}
