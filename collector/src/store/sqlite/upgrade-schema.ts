import type { DatabaseSync } from "node:sqlite";
import { SCHEMA_VERSION } from "./schema.ts";

/** One step for each older version, the first from version 1 to 2. A step never changes once it was released. */
const STEPS: readonly ((database: DatabaseSync) => void)[] = [fromVersion1];

/**
 * Brings a database that an older program made to this program's version: all steps in one transaction, so that a crash
 * or a full disk leaves the database as it was.
 */
export function upgradeSchema(database: DatabaseSync, version: number): void {
  if (version === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const step of STEPS.slice(version - 1)) step(database);
    database.prepare("UPDATE meta SET value = ? WHERE name = 'schema_version'").run(String(SCHEMA_VERSION));
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * The base of the log, and the children that inputs without a child's key speak of: verdicts that changed nothing, and
 * snapshots. A child that lives as of the checkpoint had not ended in any snapshot before it.
 */
function fromVersion1(database: DatabaseSync): void {
  database.exec(`
CREATE TABLE base_children (
  child_key INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  child_id TEXT NOT NULL,
  updated_input_id INTEGER NOT NULL,
  record TEXT NOT NULL,
  UNIQUE (source, child_id)
) STRICT;
CREATE TABLE base_snapshot_epochs (source TEXT PRIMARY KEY, epoch TEXT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE mentions (
  source TEXT NOT NULL,
  child_id TEXT NOT NULL,
  input_id INTEGER NOT NULL,
  PRIMARY KEY (source, child_id, input_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX mentions_by_input ON mentions (input_id);

INSERT INTO meta (name, value) SELECT 'next_key', CAST(coalesce(max(child_key) + 1, 0) AS TEXT) FROM children;

INSERT OR IGNORE INTO mentions (source, child_id, input_id)
  SELECT json_extract(payload, '$.source'), json_extract(payload, '$.childId'), input_id
  FROM inputs WHERE type IN (2, 3) AND child_key IS NULL;

INSERT OR IGNORE INTO mentions (source, child_id, input_id)
  SELECT json_extract(inputs.payload, '$.snapshot.source'), json_extract(listed.value, '$.childId'), inputs.input_id
  FROM inputs, json_each(inputs.payload, '$.snapshot.children') AS listed
  WHERE inputs.type = 1 AND NOT EXISTS (
    SELECT 1 FROM children
    WHERE live = 1 AND source = json_extract(inputs.payload, '$.snapshot.source')
    AND child_id = json_extract(listed.value, '$.childId')
    AND inputs.input_id <= (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'checkpoint')
  );
`);
}
