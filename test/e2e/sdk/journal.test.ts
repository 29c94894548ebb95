import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openJournal, repairJournal } from "@agent-lifecycle/sdk/journal";
import { describe, expect, it, onTestFinished } from "vitest";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { runCommand } from "../../kit/program.ts";
import { startHost } from "./host-process.ts";

const EVENT = {
  schemaVersion: 1,
  eventId: "e",
  source: "journal",
  sourceEpoch: "epoch",
  childId: "child",
  lineage: { rootChildId: "child", attempt: 0, external: false },
  kind: "heartbeat",
  observedAt: "2026-09-01T09:00:00Z",
};

describe("processes that write one journal", () => {
  it("six of them with 2,000 appends each lose nothing, and the numbers have no hole", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const names = ["a", "b", "c", "d", "e", "f"];
    const ends = await Promise.all(names.map((name) => startHost("journal-writer.mjs", [path, name, "2000"], {}).end));
    for (const end of ends) expect(end).toMatchObject({ code: 0, stderr: "" });
    const lines = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { childId: string; sequence: number; journalSequence: number });
    expect(lines.map(({ journalSequence }) => journalSequence)).toEqual(
      Array.from({ length: 12_000 }, (_, index) => index + 1),
    );
    for (const name of names) {
      const own = lines.filter(({ childId }) => childId === name).map(({ sequence }) => sequence);
      expect(own).toEqual(Array.from({ length: 2_000 }, (_, index) => index + 1));
    }
    expect(repairJournal({ path, dryRun: true })).toMatchObject({ lines: 12_000, broken: 0 });
  }, 120_000);

  it("wait for one that lives and holds the lock, and go on when it is killed", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const holder = startHost("journal-writer.mjs", [path, "--hold", "3600000"], {});
    await holder.line("held");
    const journal = openJournal({ path, lockTimeoutMs: 200, reclaimAfterMs: 0 });
    onTestFinished(() => journal.close());
    await expect(journal.append([EVENT])).rejects.toThrow(`locked by process ${holder.process.pid}`);
    holder.process.kill("SIGKILL");
    await holder.end;
    expect(await journal.append([EVENT])).toEqual({ firstSequence: 1, lastSequence: 1 });
  });

  it("take the lock of a dead one exactly once", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const holder = startHost("journal-writer.mjs", [path, "--hold", "3600000"], {});
    await holder.line("held");
    holder.process.kill("SIGKILL");
    await holder.end;
    const ends = await Promise.all(
      ["a", "b", "c"].map((name) => startHost("journal-writer.mjs", [path, name, "50"], {}).end),
    );
    for (const end of ends) expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(repairJournal({ path, dryRun: true })).toMatchObject({ lines: 150, journalSequence: 150, broken: 0 });
  });
});

it("a lifecycle writes a journal, also in its process's last moment", async () => {
  const path = join(temporaryDirectory(), "events.jsonl");
  const end = await startHost("host.mjs", ["process-exit"], { AGENT_LIFECYCLE_JOURNAL: path }).end;
  expect(end).toMatchObject({ code: 3, stderr: "" });
  expect(readEvents(path).map(({ state }) => state)).toEqual([
    "created",
    "starting",
    "running",
    undefined,
    "completed",
  ]);
  expect(repairJournal({ path, dryRun: true })).toMatchObject({ lines: 5, broken: 0 });
});

describe("agent-lifecycle journal repair", () => {
  it("says what it found, and repairs it", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const journal = openJournal({ path });
    onTestFinished(() => journal.close());
    await journal.append([EVENT]);
    const { appendFileSync } = await import("node:fs");
    appendFileSync(path, "noise\n");
    const look = await runCommand(["journal", "repair", "--dry-run", path]);
    expect(look.exitCode).toBe(1);
    expect(String(look.stdout)).toContain("malformed, 6 bytes");
    const repair = await runCommand(["journal", "repair", "--json", path]);
    expect(repair.exitCode).toBe(0);
    expect(JSON.parse(String(repair.stdout))).toMatchObject({ lines: 1, broken: 1, setAside: expect.any(String) });
    expect(await journal.append([EVENT])).toMatchObject({ firstSequence: 2 });
  });

  it("of a file that is not there is an error that says so", async () => {
    const end = await runCommand(["journal", "repair", join(temporaryDirectory(), "missing.jsonl")]);
    expect(end.exitCode).toBe(2);
    expect(String(end.stderr)).toContain("ENOENT");
  });
});
