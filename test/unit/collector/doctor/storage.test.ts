import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { mountSmallDisk } from "../../../kit/small-disk.ts";
import { examined, faultsOf, NOW } from "./examination.ts";

/** A database with inputs in it, as a collector leaves it. @returns its path */
function storedDatabase(inputs: number, at = NOW): string {
  const path = join(temporaryDirectory(), "collector.db");
  const store = openSqliteStore({ path });
  store.begin();
  for (let index = 0; index < inputs; index += 1) {
    store.append({ input: { type: "resumed", at }, childKey: undefined, status: "applied", diagnostic: undefined });
  }
  store.commit();
  store.close();
  return path;
}

describe("a disk", () => {
  test("that is full is a problem", async (context) => {
    const disk = mountSmallDisk(context, "size=1m").path;
    const ballast = openSync(join(disk, "ballast"), "w");
    try {
      for (;;) writeSync(ballast, Buffer.alloc(4_096));
    } catch {
      closeSync(ballast);
    }
    expect(await faultsOf({ storage: { path: join(disk, "collector.db") } })).toContainEqual({
      check: "storage",
      level: "problem",
      text: expect.stringContaining("ENOSPC"),
      advice: "make room, or set storage.retention",
    });
  });

  test("that has nearly no room is a problem before it is full", async (context) => {
    const disk = mountSmallDisk(context, "size=8m").path;
    expect(await faultsOf({ storage: { path: join(disk, "collector.db") } })).toContainEqual(
      expect.objectContaining({ check: "disk", level: "problem", text: `8 MiB free at ${disk}` }),
    );
  });

  test("that is read-only is a problem", async (context) => {
    const disk = mountSmallDisk(context, "size=1m,ro").path;
    expect(await faultsOf({ storage: { path: join(disk, "collector.db") } })).toContainEqual(
      expect.objectContaining({ check: "storage", level: "problem", text: expect.stringContaining("EROFS") }),
    );
  });
});

describe("a folder", () => {
  test("that is not there yet can be made, and is not made by looking", async () => {
    const folder = temporaryDirectory();
    const findings = await examined({ storage: { path: join(folder, "deep", "below", "collector.db") } });
    expect(findings).toContainEqual({
      check: "storage",
      level: "ok",
      text: `${join(folder, "deep", "below")} is not there yet and can be made`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("that is a file is a problem", async () => {
    const file = join(temporaryDirectory(), "file");
    writeFileSync(file, "");
    expect(await faultsOf({ storage: { path: join(file, "collector.db") } })).toContainEqual(
      expect.objectContaining({ check: "storage", level: "problem", text: `${file} is no folder` }),
    );
  });

  test("is left as it was, but for the scratch files of SQLite", async () => {
    const path = storedDatabase(1);
    const folder = dirname(path);
    const contents = (): readonly string[] =>
      readdirSync(folder)
        .filter((name) => !/-(?:shm|wal)$/.test(name))
        .map((name) => `${name} ${readFileSync(join(folder, name)).toString("base64")}`);
    const before = contents();
    await examined({ storage: { path } });
    expect(contents()).toEqual(before);
  });
});

describe("a database", () => {
  test("that is sound is told with its newest input", async () => {
    const path = storedDatabase(3);
    const findings = await examined({ storage: { path } });
    expect(findings.filter(({ check }) => check === "database")).toEqual([
      { check: "database", level: "ok", text: `${path} opens; its newest input is 3` },
      { check: "database", level: "ok", text: "every page and index of it is sound" },
    ]);
    expect(findings).toContainEqual({
      check: "storage",
      level: "ok",
      text: "nobody but its owner can read the database",
    });
  });

  test("that others may read is a warning", async () => {
    const path = storedDatabase(1);
    chmodSync(path, 0o644);
    expect(await faultsOf({ storage: { path } })).toContainEqual(
      expect.objectContaining({
        check: "storage",
        level: "warning",
        advice: expect.stringContaining(`chmod 600 ${path}`),
      }),
    );
  });

  test("with a damaged page is a problem that says the way out, and is left as it is", async () => {
    const path = storedDatabase(20_000);
    const bytes = readFileSync(path);
    bytes.fill(0xa5, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 8_192);
    writeFileSync(path, bytes);
    const faults = await faultsOf({ storage: { path } });
    expect(faults).toContainEqual({
      check: "database",
      level: "problem",
      text: expect.stringMatching(/is damaged: |cannot be read through: /),
      advice: expect.stringContaining("restore a backup"),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test("that is none is a problem", async () => {
    const path = join(temporaryDirectory(), "collector.db");
    writeFileSync(path, "what is this?".repeat(100));
    expect(await faultsOf({ storage: { path } })).toContainEqual(
      expect.objectContaining({ check: "database", level: "problem", text: expect.stringContaining("not a database") }),
    );
  });

  test("of a newer program is a problem", async () => {
    const path = storedDatabase(1);
    const database = new DatabaseSync(path);
    database.exec("UPDATE meta SET value = '99' WHERE name = 'schema_version'");
    database.close();
    expect(await faultsOf({ storage: { path } })).toContainEqual(
      expect.objectContaining({
        check: "database",
        level: "problem",
        text: expect.stringContaining("schema version 99"),
      }),
    );
  });

  test("with inputs from the future tells that the clock was set back", async () => {
    const path = storedDatabase(1, NOW + 3_600_000);
    expect(await faultsOf({ storage: { path } })).toContainEqual(
      expect.objectContaining({ check: "clock", level: "warning", text: expect.stringContaining("still to come") }),
    );
  });

  test("whose place is a folder is a problem, and ends no other look", async () => {
    const path = join(temporaryDirectory(), "collector.db");
    mkdirSync(path);
    const findings = await examined({ storage: { path } });
    expect(findings).toContainEqual(expect.objectContaining({ check: "database", level: "problem" }));
    expect(findings).toContainEqual(expect.objectContaining({ check: "port", level: "ok" }));
  });
});
