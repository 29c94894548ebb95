import { readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { openSqliteStore, type Verification, verifyStore } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { runCommand } from "../../../kit/program.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { temporaryDatabase } from "../runtime/embedded-collector.ts";
import { RetainedStorage } from "../runtime/retained-storage.ts";

const SCHEMA_1 = readFileSync(
  fileURLToPath(new URL("../../../fixtures/databases/schema-1.sql", import.meta.url)),
  "utf8",
);
const ONE_HOUR_MS = 3_600_000;

/** What every version stores. */
const TABLES_OF_VERSION_1 = ["inputs", "children", "snapshot_epochs", "audit", "diagnostics"];

interface OldDatabase {
  readonly path: string;
  readonly wallMs: number;
}

/**
 * A database as version 1 left it: ended and live children, a snapshot that lists one of each, and a verdict that found
 * its child ended, which version 1 stored without the child's key.
 * @param checkpointed whether it ended in order; otherwise it was killed while the newest inputs were not yet in the
 * projection, which knows one child as living that ended and was listed after that
 */
async function oldDatabase(checkpointed: boolean): Promise<OldDatabase> {
  const current = temporaryDatabase();
  const storage = new RetainedStorage({}, openSqliteStore({ path: current, synchronous: "normal" }));
  await storage.take(...storage.live("listed", "running"));
  storage.writer.checkpoint();
  await storage.take(...storage.live("listed", "completed").slice(3), ...storage.live("ended", "completed"));
  await storage.take(...storage.live("judged", "completed"), ...storage.live("living", "running"));
  storage.clock.pass(ONE_HOUR_MS);
  const children = [
    { childId: "listed", state: "completed" as const },
    { childId: "living", state: "running" as const },
  ];
  const snapshot = makeSnapshot({ at: storage.clock.wallNow() - START_MS, coverage: ["listed", "living"], children });
  await storage.door.acceptSnapshot(snapshot, { receiver: "test", backfill: false, bytes: 1 });
  storage.faults.breakDown();
  await expect(storage.take(makeEvent({ childId: "refused" }))).rejects.toThrow("unavailable");
  storage.faults.repair();
  const at = storage.clock.wallNow();
  await storage.writer.submitVerdicts([
    { type: "stale", source: "runner", childId: "judged", at, silentSince: at, deadline: at },
  ]);
  if (checkpointed) storage.writer.checkpoint();
  storage.close();

  const path = temporaryDatabase();
  const old = new DatabaseSync(path);
  old.exec(`PRAGMA journal_mode = WAL; ${SCHEMA_1}`);
  old.prepare("ATTACH ? AS current").run(current);
  for (const table of TABLES_OF_VERSION_1) old.exec(`INSERT INTO main.${table} SELECT * FROM current.${table}`);
  old.exec("INSERT INTO main.meta SELECT * FROM current.meta WHERE name IN ('checkpoint', 'resumption')");
  old.exec("UPDATE main.inputs SET child_key = NULL WHERE type IN (2, 3)");
  old.close();
  return { path, wallMs: storage.clock.wallNow() };
}

function verify(path: string): Verification {
  const store = openSqliteStore({ path, readOnly: true });
  try {
    return verifyStore(store);
  } finally {
    store.close();
  }
}

describe.each([
  ["ended in order", true],
  ["was killed", false],
])("a database of schema version 1 whose collector %s", (_, checkpointed) => {
  test("is upgraded by the next start and is what it was", async () => {
    const { path } = await oldDatabase(checkpointed);
    openSqliteStore({ path, synchronous: "normal" }).close();
    expect(verify(path)).toMatchObject({ agrees: true, children: 4, removedInputId: 0 });
    // A second start finds nothing to do.
    openSqliteStore({ path, synchronous: "normal" }).close();
    expect(verify(path)).toMatchObject({ agrees: true, children: 4 });
  });

  test("lets children go after it exactly when its log speaks of them no more", async () => {
    const { path, wallMs } = await oldDatabase(checkpointed);
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS }, openSqliteStore({ path, synchronous: "normal" }));
    storage.clock.pass(wallMs - storage.clock.wallNow() + 1);
    expect(await storage.retention.run()).toEqual({ inputs: 15, children: 1 });
    expect(["ended", "listed", "judged", "living"].map((childId) => storage.stateOf(childId))).toEqual([
      undefined,
      "completed",
      "completed",
      "running",
    ]);
    storage.expectProven();
    storage.clock.pass(ONE_HOUR_MS + 1);
    expect(await storage.retention.run()).toEqual({ inputs: 2, children: 2 });
    expect(storage.stateOf("living")).toBe("running");
    storage.expectProven();
    await storage.take(...storage.live("new", "running"));
    expect(storage.state.child("runner", "new")?.key).toBe(4);
  });
});

test("a program that only reads says what is to be done, and changes nothing", async () => {
  const { path } = await oldDatabase(true);
  const before = statSync(path).mtimeMs;
  const { exitCode, stderr } = await runCommand(["verify", "--database", path]);
  expect(exitCode).toBe(2);
  expect(stderr.toString()).toMatch(/has schema version 1; this program reads version 2\. Start its collector once/);
  expect(statSync(path).mtimeMs).toBe(before);
});

test("an upgrade that fails leaves the old database as it was", async () => {
  const { path } = await oldDatabase(true);
  const intruder = new DatabaseSync(path);
  intruder.exec("CREATE TABLE mentions (something_else TEXT)");
  const tables = () => intruder.prepare("SELECT name FROM sqlite_schema ORDER BY name").all();
  const before = tables();
  expect(() => openSqliteStore({ path })).toThrow(/table mentions already exists/);
  expect(tables()).toEqual(before);
  expect(intruder.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get()).toEqual({ value: "1" });
  intruder.close();
});
