import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { eventOf, eventsOf } from "../kit/event-run.ts";
import { runCommand, startCommand } from "../kit/program.ts";
import { submit } from "../kit/submit.ts";

function temporaryDatabase(): string {
  return join(temporaryDirectory(), "collector.db");
}

describe("one database", () => {
  test("has one writer: a second collector is refused with a sentence, and the first goes on", async () => {
    const database = temporaryDatabase();
    const first = await startCollector(database);
    const second = await runCommand(["collector", "--database", database, "--ingest-port", "0", "--api-port", "0"]);
    expect(second.exitCode).toBe(2);
    expect(second.stderr.toString()).toBe(
      `agent-lifecycle: another collector is writing to ${database}; stop it, or give this one a database of its own\n`,
    );
    expect(second.stdout.toString()).toBe("");
    await submit(first.ingestUrl, eventsOf("child-1", 3));
    expect(await historyOf(first, "runner", "child-1")).toHaveLength(3);
  });

  test("is free again the moment its collector is gone, however it went", async () => {
    const database = temporaryDatabase();
    for (const signal of ["SIGKILL", "SIGTERM", "SIGKILL"] as const)
      await (await startCollector(database)).endBy(signal);
  });

  test("is read by verify and replay while a collector writes to it", async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database);
    await submit(collector.ingestUrl, eventsOf("child-1", 3));
    const writing = new AbortController();
    const writer = writeUntil(writing.signal, collector);
    const verified = await runCommand(["verify", "--database", database, "--json"]);
    const replayed = await runCommand(["replay", "--database", database, "--json"]);
    writing.abort();
    const written = await writer;
    expect(JSON.parse(verified.stdout.toString())).toMatchObject({ agrees: true });
    expect(verified.exitCode).toBe(0);
    expect(replayed).toMatchObject({ exitCode: 0, signal: null });
    const views = replayed.stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(views).toContainEqual(expect.objectContaining({ childId: "child-1", state: "running" }));
    expect(written).toBeGreaterThan(0);
    expect(await historyOf(collector, "runner", "writer")).toHaveLength(written);
  });

  test("is opened by a collector while a reader reads what the last one left behind at its kill", async () => {
    const database = temporaryDatabase();
    const killed = await startCollector(database);
    await submit(killed.ingestUrl, eventsOf("writer", 2_000));
    await killed.endBy("SIGKILL");
    const readers = Array.from({ length: 3 }, () => startCommand(["verify", "--database", database, "--json"]));
    const collector = await startCollector(database);
    for (const reader of readers) {
      const { exitCode, stderr } = await reader.end;
      expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    }
    expect(await historyOf(collector, "runner", "writer")).toHaveLength(2_000);
  });

  test("that cannot be used is named with the reason and exit code 2", async () => {
    const folder = temporaryDirectory();
    const { exitCode, stderr } = await runCommand([
      "collector",
      "--database",
      folder,
      "--ingest-port",
      "0",
      "--api-port",
      "0",
    ]);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toMatch(/^agent-lifecycle: cannot use the database .+: unable to open database file\n$/);
    expect(existsSync(`${folder}.lock`)).toBe(false);
    const missing = await runCommand(["verify", "--database", join(folder, "missing.db")]);
    expect(missing.exitCode).toBe(2);
    expect(missing.stderr.toString()).toContain("missing.db");
  });
});

async function writeUntil(signal: AbortSignal, collector: CollectorProcess): Promise<number> {
  let written = 0;
  for (; !signal.aborted; written += 1) {
    await submit(collector.ingestUrl, [eventOf("writer", written)]);
  }
  return written;
}
