import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isHeldByAnother } from "../store/sqlite/database-error.ts";
import { type Finding, ok, problem, sentenceOf, warning } from "./finding.ts";

/**
 * Whether another process writes to the database: there may be one. A reader meets the writer's lock without taking any
 * that would keep a collector from starting.
 * @param isCollectorRunning whether a collector answers at the configured API address
 */
export function checkWriter(database: string, isCollectorRunning: boolean): readonly Finding[] {
  const lock = `${resolve(database)}.lock`;
  if (!existsSync(lock)) return [ok("writer", "no collector writes to the database")];
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(lock, { readOnly: true, timeout: 0 });
    connection.prepare("SELECT count(*) FROM sqlite_schema").get();
    if (!isCollectorRunning) return [ok("writer", "no collector writes to the database")];
    const text = "the collector that answers at this API address does not write to this database";
    return [warning("writer", text, "compare its storage.path with this configuration's, or choose other ports")];
  } catch (error) {
    if (!isHeldByAnother(error)) {
      const text = `cannot look at ${lock}: ${sentenceOf(error)}`;
      return [problem("writer", text, "give the user of the collector the right to read and write it")];
    }
    if (isCollectorRunning) return [ok("writer", "one collector writes to the database: the one that answers")];
    const text = `another process writes to ${database}, and no collector answers at the API address`;
    return [warning("writer", text, `stop it before you start another; find it with: fuser ${lock}`)];
  } finally {
    connection?.close();
  }
}
