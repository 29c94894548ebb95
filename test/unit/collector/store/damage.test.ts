import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore, ProjectionState } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { damagePagesOf } from "../../../kit/damaged-pages.ts";
import { eventsOf } from "../../../kit/event-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { databaseAfterCrash, temporaryDatabase } from "../runtime/embedded-collector.ts";
import { RetainedStorage } from "../runtime/retained-storage.ts";

async function filledDatabase(): Promise<string> {
  const path = temporaryDatabase();
  const storage = new RetainedStorage({}, openSqliteStore({ path, synchronous: "normal" }));
  for (let child = 0; child < 100; child += 1) await storage.take(...eventsOf(`child-${child}`, 10));
  storage.writer.checkpoint();
  await storage.take(makeEvent({ childId: "child-0", sequence: 10, at: 10 }));
  storage.close();
  return path;
}

/** What starting on it says. The store is closed again, as the collector does. */
function startFailure(path: string): string {
  let message = "it started";
  try {
    const store = openSqliteStore({ path, synchronous: "normal" });
    try {
      new ProjectionState(store);
    } catch (error) {
      message = String(error);
    }
    store.close();
  } catch (error) {
    message = String(error);
  }
  return message;
}

describe("a start on a damaged database", () => {
  test.each(["children", "meta", "sqlite_schema"])("is refused, whole, when a page of %s is damaged", async (table) => {
    const path = await filledDatabase();
    damagePagesOf(path, table);
    const before = readFileSync(path);
    const message = startFailure(path);
    expect(message).toContain(path);
    expect(message).toMatch(/is damaged|file is not a database/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("leaves what a killed collector left in the write-ahead log where it is", async () => {
    const path = temporaryDatabase();
    const storage = new RetainedStorage({}, openSqliteStore({ path, synchronous: "normal" }));
    for (let child = 0; child < 100; child += 1) await storage.take(...eventsOf(`child-${child}`, 10));
    storage.writer.checkpoint();
    const flush = new DatabaseSync(path);
    flush.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    flush.close();
    await storage.take(makeEvent({ childId: "child-0", sequence: 10, at: 10 }));
    const crashed = databaseAfterCrash(path);
    damagePagesOf(crashed, "children");
    const files = [crashed, `${crashed}-wal`];
    const before = files.map((file) => readFileSync(file));
    expect(before[1]?.length).toBeGreaterThan(0);
    expect(startFailure(crashed)).toContain("is damaged");
    expect(files.map((file, index) => readFileSync(file).equals(before[index] ?? Buffer.alloc(0)))).toEqual([
      true,
      true,
    ]);
  });

  test("names the row when a record can be found and not be read", async () => {
    const path = await filledDatabase();
    const intruder = new DatabaseSync(path);
    intruder.exec("UPDATE children SET record = '{\"key\":' WHERE child_key = 7");
    intruder.close();
    expect(startFailure(path)).toMatch(/the database .*collector\.db is damaged \(the record of child 7 is damaged: /);
    const unreadable = await filledDatabase();
    const another = new DatabaseSync(unreadable);
    another.exec("UPDATE inputs SET payload = '{' WHERE input_id = (SELECT max(input_id) FROM inputs)");
    another.close();
    expect(startFailure(unreadable)).toMatch(/is damaged \(input 1001 is damaged: /);
  });
});

test("a file that was cut short is refused and left as it is", async () => {
  const path = await filledDatabase();
  const cut = readFileSync(path).subarray(0, 3 * 8192);
  writeFileSync(path, cut);
  expect(startFailure(path)).toContain("is damaged");
  expect(readFileSync(path).equals(cut)).toBe(true);
});
