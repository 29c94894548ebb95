/** Version of the tables below. Older databases are upgraded step by step; newer ones are refused. */
export const SCHEMA_VERSION = 2;

/**
 * inputs    the log: everything the projection was folded from since `meta.base`, in order.
 * base_*    what the inputs that retention removed had folded to, as of `meta.base`. Base and log are the state.
 * children  the projection as of `meta.checkpoint`, one row per child; later inputs are still to be replayed.
 * mentions  ended children that stored snapshots list: none is let go while the log speaks of it.
 *
 * Identity look-ups stay off the hot path: a sequenced event needs none unless its sequence lies at or below the highest
 * of its child, and is then found through (child_key, sequence, epoch_digest); only unsequenced events and snapshots carry a text key.
 */
export const CREATE_TABLES: string = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;

CREATE TABLE inputs (
  input_id INTEGER PRIMARY KEY,
  type INTEGER NOT NULL,
  child_key INTEGER,
  at INTEGER NOT NULL,
  backfill INTEGER NOT NULL,
  sequence INTEGER,
  epoch_digest INTEGER,
  identity TEXT,
  status INTEGER NOT NULL,
  diagnostic TEXT,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX inputs_of_child ON inputs (child_key, sequence, epoch_digest) WHERE child_key IS NOT NULL;
CREATE UNIQUE INDEX inputs_by_identity ON inputs (identity) WHERE identity IS NOT NULL;

CREATE TABLE children (
  child_key INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  child_id TEXT NOT NULL,
  root_child_id TEXT NOT NULL,
  state TEXT,
  live INTEGER NOT NULL,
  stale INTEGER NOT NULL,
  provisional INTEGER NOT NULL,
  search TEXT NOT NULL,
  updated_input_id INTEGER NOT NULL,
  record TEXT NOT NULL,
  UNIQUE (source, child_id)
) STRICT;
CREATE INDEX children_live ON children (live) WHERE live = 1;
CREATE INDEX children_by_state ON children (state, child_key);
CREATE INDEX children_by_root ON children (source, root_child_id);
CREATE INDEX children_by_update ON children (updated_input_id);

CREATE TABLE snapshot_epochs (source TEXT PRIMARY KEY, epoch TEXT NOT NULL) WITHOUT ROWID, STRICT;

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

CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY,
  input_id INTEGER NOT NULL,
  child_key INTEGER NOT NULL,
  entry TEXT NOT NULL
) STRICT;
CREATE INDEX audit_of_child ON audit (child_key);
CREATE INDEX audit_of_input ON audit (input_id);

CREATE TABLE diagnostics (
  diagnostic_id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  receiver TEXT NOT NULL,
  code TEXT NOT NULL,
  source TEXT,
  child_id TEXT,
  diagnostic TEXT NOT NULL
) STRICT;
`;
