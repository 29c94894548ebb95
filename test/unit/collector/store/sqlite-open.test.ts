import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreUnavailableError } from "@agent-lifecycle/collector";
import { openSqliteStore, type SqliteStoreOptions, type Store } from "@agent-lifecycle/collector/parts";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { makeEvent } from "../../../kit/events.ts";

function open(options: SqliteStoreOptions): Store {
  const store = openSqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}

function refusal(options: SqliteStoreOptions): StoreUnavailableError {
  try {
    openSqliteStore(options).close();
  } catch (error) {
    if (error instanceof StoreUnavailableError) return error;
    throw error;
  }
  throw new Error("it was opened");
}

function append(store: Store, childId: string): void {
  const event = makeEvent({ childId, sequence: 0, state: "created" });
  const input = { type: "event", event, receivedAt: 1, backfill: false, identity: "new" } as const;
  store.append({ input, childKey: 0, status: "applied", diagnostic: undefined });
}

describe("opening a store", () => {
  test("creates the database and the folders it is to be in", () => {
    const path = join(temporaryDirectory(), "not", "there", "yet", "collector.db");
    expect(open({ path }).lastInputId()).toBe(0);
    expect(existsSync(path)).toBe(true);
  });

  test("finds what was committed before", () => {
    const path = join(temporaryDirectory(), "collector.db");
    const first = openSqliteStore({ path });
    first.begin();
    append(first, "a");
    first.commit();
    first.begin();
    append(first, "b");
    first.close();
    expect(open({ path }).lastInputId()).toBe(1);
  });

  test("in memory takes no file and no lock", () => {
    expect(open({ path: ":memory:" }).lastInputId()).toBe(0);
    expect(open({ path: ":memory:" }).lastInputId()).toBe(0);
    expect(existsSync(":memory:.lock")).toBe(false);
  });
});

test.skipIf(process.platform !== "linux")("a second writer that is refused takes nothing from the first", () => {
  const path = join(temporaryDirectory(), "collector.db");
  const first = open({ path });
  first.begin();
  append(first, "a");
  first.commit();
  const held = locksOn(path);
  expect(held).not.toEqual([]);
  expect(() => openSqliteStore({ path })).toThrow(/another collector is writing/);
  // Without its locks it would look as if nobody used the database, and the next reader would delete the live log.
  expect(locksOn(path)).toEqual(held);
});

/** The locks that this process holds on a file, as the kernel tells them. */
function locksOn(path: string): readonly string[] {
  const { ino } = statSync(path);
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `))
    .map((line) => line.replace(/^\d+: /, ""));
}

test.skipIf(process.platform === "win32")("the database is its owner's alone", () => {
  const path = join(temporaryDirectory(), "made", "collector.db");
  open({ path });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
});

describe("a store is refused, in words an operator can act on, when", () => {
  test("a newer program made the database; it is left as it is", () => {
    const path = join(temporaryDirectory(), "collector.db");
    openSqliteStore({ path }).close();
    const later = new DatabaseSync(path);
    later.exec("UPDATE meta SET value = '3' WHERE name = 'schema_version'");
    later.close();
    const before = readFileSync(path);
    for (const readOnly of [false, true]) {
      const { message, retryable } = refusal({ path, readOnly });
      expect(message).toBe(`${path} has schema version 3; this program reads version 2. Use a newer program`);
      expect(retryable).toBe(false);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("the file is no database; it is left as it is", () => {
    const path = join(temporaryDirectory(), "notes.txt");
    const text = "these are somebody's notes\n".repeat(100);
    writeFileSync(path, text);
    for (const readOnly of [false, true]) {
      expect(refusal({ path, readOnly }).message).toBe(`cannot use the database ${path}: file is not a database`);
    }
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("the database is another program's; no table is added to it", () => {
    const path = join(temporaryDirectory(), "other.db");
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE recipes (name TEXT)");
    expect(refusal({ path }).message).toBe(`cannot use the database ${path}: no such table: meta`);
    expect(other.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "recipes" }]);
    other.close();
  });

  test("the path is a folder, or below a file", () => {
    const folder = temporaryDirectory();
    const database = join(folder, "database");
    mkdirSync(database);
    expect(refusal({ path: database }).message).toMatch(/^cannot use the database .+database: /);
    writeFileSync(join(folder, "file"), "");
    const { message } = refusal({ path: join(folder, "file", "collector.db") });
    expect(message).toMatch(/^cannot use the database .+collector\.db: /);
  });

  test.skipIf(process.platform !== "linux")("no folder can be made there", () => {
    expect(refusal({ path: "/proc/no-such-folder/nor-this/collector.db" }).message).toMatch(
      /^cannot use the database .+collector\.db: .*ENOENT/,
    );
  });

  test("another collector is writing to it; it is free again when that one has closed", () => {
    const path = join(temporaryDirectory(), "collector.db");
    const first = openSqliteStore({ path });
    const { message, retryable } = refusal({ path });
    expect(message).toBe(`another collector is writing to ${path}; stop it, or give this one a database of its own`);
    expect(retryable).toBe(false);
    first.close();
    openSqliteStore({ path }).close();
  });

  test("its lock cannot be taken for another reason: no other collector is accused", () => {
    const path = join(temporaryDirectory(), "collector.db");
    mkdirSync(`${path}.lock`);
    const { message } = refusal({ path });
    expect(message).toContain(`${path}.lock`);
    expect(message).not.toContain("another collector");
  });

  test("there is nothing to read", () => {
    const path = join(temporaryDirectory(), "missing.db");
    expect(refusal({ path, readOnly: true }).message).toBe(`there is no database ${path}`);
    expect(existsSync(path)).toBe(false);
  });
});

describe("a reader", () => {
  test("is not in the writer's way, and sees the last commit and nothing of the open transaction", () => {
    const path = join(temporaryDirectory(), "collector.db");
    const writer = open({ path });
    const reader = open({ path, readOnly: true });
    writer.begin();
    append(writer, "a");
    expect(reader.lastInputId()).toBe(0);
    expect(open({ path, readOnly: true }).lastInputId()).toBe(0);
    writer.commit();
    expect(reader.lastInputId()).toBe(1);
  });

  test("sees one commit throughout reads that belong together", () => {
    const path = join(temporaryDirectory(), "collector.db");
    const writer = open({ path });
    const reader = open({ path, readOnly: true });
    const commitOne = (childId: string): void => {
      writer.begin();
      append(writer, childId);
      writer.commit();
    };
    commitOne("a");
    const seen = reader.consistently(() => {
      const before = reader.lastInputId();
      commitOne("b");
      return [before, reader.lastInputId(), [...reader.inputs(0)].length];
    });
    expect(seen).toEqual([1, 1, 1]);
    expect(reader.lastInputId()).toBe(2);
    expect(() => reader.consistently(() => expect.fail("a fault of the reader"))).toThrow("a fault of the reader");
    expect(reader.lastInputId()).toBe(2);
  });

  test("cannot write, and its error is the store's", () => {
    const path = join(temporaryDirectory(), "collector.db");
    openSqliteStore({ path }).close();
    const reader = open({ path, readOnly: true });
    try {
      append(reader, "a");
    } catch (error) {
      expect(reader.explain(error)?.message).toBe(
        `cannot use the database ${path}: attempt to write a readonly database`,
      );
      expect(reader.explain(error)?.retryable).toBe(false);
      return;
    }
    throw new Error("it wrote");
  });
});
