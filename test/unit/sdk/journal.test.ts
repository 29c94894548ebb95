import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JournalError, openJournal, repairJournal } from "@agent-lifecycle/sdk/journal";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../kit/event-file.ts";

function eventNumber(sequence: number, members: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    schemaVersion: 1,
    eventId: `e-${sequence}`,
    source: "journal",
    sourceEpoch: "epoch",
    childId: "child",
    lineage: { rootChildId: "child", attempt: 0, external: false },
    kind: "heartbeat",
    observedAt: "2026-09-01T09:00:00Z",
    sequence,
    ...members,
  };
}

function journalIn(directory: string, options: Partial<Parameters<typeof openJournal>[0]> = {}) {
  const path = join(directory, "events.jsonl");
  const journal = openJournal({ path, lockTimeoutMs: 100, ...options });
  onTestFinished(() => journal.close());
  return journal;
}

function linesOf(path: string): readonly { readonly sequence: number; readonly journalSequence: number }[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { sequence: number; journalSequence: number });
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof JournalError)) throw new Error(`no journal error: ${String(error)}`);
  return error.code;
}

describe("a journal", () => {
  it("numbers its lines, over batches and over openings", async () => {
    const directory = temporaryDirectory();
    const first = journalIn(directory);
    expect(await first.append([eventNumber(1), eventNumber(2)])).toEqual({ firstSequence: 1, lastSequence: 2 });
    await first.close();
    const second = journalIn(directory);
    expect(second.appendNow([eventNumber(3)])).toEqual({ firstSequence: 3, lastSequence: 3 });
    expect(linesOf(second.path).map(({ journalSequence }) => journalSequence)).toEqual([1, 2, 3]);
  });

  it.skipIf(process.platform !== "linux")("fails at once where no folder can be made", async () => {
    const journal = openJournal({ path: "/proc/no-such-folder/nor-this/events.jsonl", lockTimeoutMs: 100 });
    await expect(journal.append([eventNumber(1)])).rejects.toThrow("ENOENT");
    await journal.close();
  });

  it("keeps the order of calls, and leaves no lock and no litter", async () => {
    const directory = temporaryDirectory();
    const journal = journalIn(directory);
    await Promise.all(Array.from({ length: 50 }, (_, index) => journal.append([eventNumber(index)])));
    await journal.close();
    expect(linesOf(journal.path).map(({ sequence }) => sequence)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(readdirSync(directory).sort()).toEqual(["events.jsonl", "events.jsonl.verified"]);
  });

  it("takes nothing of a batch that holds something else than events", async () => {
    const journal = journalIn(temporaryDirectory());
    expect(await codeOf(journal.append([eventNumber(1), { state: "running" }]))).toBe("journal_entry_invalid");
    expect(existsSync(journal.path)).toBe(false);
  });

  it("redacts what it is given", async () => {
    const journal = journalIn(temporaryDirectory());
    await journal.append([eventNumber(1, { kind: "activity", activity: "password=hunter2example" })]);
    expect(readFileSync(journal.path, "utf8")).not.toContain("hunter2example");
  });

  it("goes on in the file that has taken its place", async () => {
    const journal = journalIn(temporaryDirectory());
    await journal.append([eventNumber(1)]);
    renameSync(journal.path, `${journal.path}.1`);
    expect(await journal.append([eventNumber(2)])).toEqual({ firstSequence: 1, lastSequence: 1 });
    expect(linesOf(`${journal.path}.1`)).toHaveLength(1);
  });

  it("reads only what is new: what was found sound before is not read again, by another opening either", async () => {
    const directory = temporaryDirectory();
    const first = journalIn(directory);
    await first.append(Array.from({ length: 20 }, (_, index) => eventNumber(index)));
    await first.close();
    // In the middle of what is known to be sound: only somebody who reads it all would see it.
    const text = readFileSync(first.path, "utf8").replace('"eventId":"e-3"', '"eventId":x"e3"');
    writeFileSync(first.path, text);
    expect(await journalIn(directory).append([eventNumber(20)])).toMatchObject({ firstSequence: 21 });
    expect(repairJournal({ path: first.path, dryRun: true })).toMatchObject({ lines: 20, broken: 1 });
  });
});

describe("a journal that is damaged", () => {
  const line = (sequence: number): string =>
    `${JSON.stringify({ ...eventNumber(sequence), journalSequence: sequence })}\n`;
  const cases: readonly (readonly [string, string, string])[] = [
    ["a line that is no JSON", `${line(1)}{"half":\n${line(2)}`, "malformed"],
    ["a line without a number", `${line(1)}{"eventId":"x"}\n`, "malformed"],
    ["bytes that are no UTF-8", `${line(1)}\u{0}`, "truncated"],
    ["an unfinished line", `${line(1)}{"eventId":`, "truncated"],
    ["a whole line without its end", line(1).trimEnd(), "truncated"],
    ["a number that comes twice", `${line(1)}${line(2)}${line(2)}`, "out_of_sequence"],
    ["a number that goes back", `${line(5)}${line(4)}`, "out_of_sequence"],
    ["a line that is too long", `${line(1)}{"eventId":"${"x".repeat(70_000)}"}\n`, "oversize"],
  ];
  for (const [what, text, problem] of cases) {
    it(`by ${what} takes nothing, says how to repair it, and is left as it is`, async () => {
      const journal = journalIn(temporaryDirectory());
      writeFileSync(journal.path, text);
      await expect(journal.append([eventNumber(9)])).rejects.toThrow(
        new RegExp(`\\(${problem}\\).*agent-lifecycle journal repair`),
      );
      expect(readFileSync(journal.path, "utf8")).toBe(text);
      expect(existsSync(`${journal.path}.lock`)).toBe(false);
    });

    it(`by ${what} is repaired: what is sound stays, what is broken lies beside it, and appends go on`, async () => {
      const journal = journalIn(temporaryDirectory());
      writeFileSync(journal.path, text);
      const { setAside = "", broken, lines, journalSequence } = repairJournal({ path: journal.path });
      expect(broken).toBe(1);
      expect(readFileSync(journal.path, "utf8").length + readFileSync(setAside, "utf8").length).toBe(text.length);
      expect(await journal.append([eventNumber(9)])).toMatchObject({ firstSequence: journalSequence + 1 });
      expect(linesOf(journal.path)).toHaveLength(lines + 1);
    });
  }

  it("behind what was known to be sound is found all the same", async () => {
    const journal = journalIn(temporaryDirectory());
    await journal.append([eventNumber(1)]);
    appendFileSync(journal.path, "noise\n");
    expect(await codeOf(journal.append([eventNumber(2)]))).toBe("journal_damaged");
  });

  it("by nothing is left alone by a repair", async () => {
    const directory = temporaryDirectory();
    const journal = journalIn(directory);
    writeFileSync(journal.path, `\ufeff${line(1)}\r\n\n${line(3)}`);
    expect(repairJournal({ path: journal.path })).toEqual({ lines: 2, journalSequence: 3, broken: 0, damages: [] });
    expect(readdirSync(directory)).toEqual(["events.jsonl"]);
    expect(await journal.append([eventNumber(4)])).toMatchObject({ firstSequence: 4 });
  });

  it("in any way loses no byte in a repair", () => {
    const piece = fc.oneof(
      fc.nat({ max: 9 }).map((sequence) => Buffer.from(line(sequence + 1))),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom("\n", "\r\n", "{}", '{"journalSequence":3}\n').map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const directory = temporaryDirectory();
        const path = join(directory, "events.jsonl");
        const before = Buffer.concat(pieces);
        writeFileSync(path, before);
        const { setAside } = repairJournal({ path });
        const after = readFileSync(path);
        const broken = setAside === undefined ? Buffer.alloc(0) : readFileSync(setAside);
        expect(Buffer.concat([after, broken]).sort().equals(before.sort())).toBe(true);
        expect(repairJournal({ path, dryRun: true }).broken).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});

describe("the lock of a journal", () => {
  const OLD = new Date(Date.now() - 3_600_000).toISOString();

  function lock(path: string, owner: unknown): void {
    mkdirSync(`${path}.lock`);
    writeFileSync(join(`${path}.lock`, "owner.json"), JSON.stringify(owner));
  }

  it("of an owner who is dead is taken away when it is old enough", async () => {
    const journal = journalIn(temporaryDirectory());
    lock(journal.path, { pid: 2 ** 22 + 5, token: "gone", createdAt: OLD });
    expect(await journal.append([eventNumber(1)])).toMatchObject({ firstSequence: 1 });
  });

  it("of an owner who is dead is waited for while it is young", async () => {
    const journal = journalIn(temporaryDirectory());
    lock(journal.path, { pid: 2 ** 22 + 5, token: "gone", createdAt: new Date().toISOString() });
    expect(await codeOf(journal.append([eventNumber(1)]))).toBe("journal_locked");
  });

  it("of an owner whose PID is somebody else's by now is taken away", async () => {
    const journal = journalIn(temporaryDirectory());
    lock(journal.path, { pid: process.pid, startTime: "1", token: "recycled", createdAt: OLD });
    expect(await journal.append([eventNumber(1)])).toMatchObject({ firstSequence: 1 });
  });

  it("of an owner who lives is waited for, however old it is, and the error names who", async () => {
    const journal = journalIn(temporaryDirectory());
    lock(journal.path, { pid: process.pid, token: "alive", createdAt: OLD });
    await expect(journal.append([eventNumber(1)])).rejects.toThrow(`locked by process ${process.pid}`);
    expect(() => journal.appendNow([eventNumber(1)])).toThrow(JournalError);
    expect(() => repairJournal({ path: journal.path, lockTimeoutMs: 50 })).toThrow("locked by process");
    expect(existsSync(`${journal.path}.lock`)).toBe(true);
  });

  it("of a machine run that is over is taken away", async () => {
    const journal = journalIn(temporaryDirectory());
    lock(journal.path, { pid: process.pid, bootId: "00000000", token: "before", createdAt: OLD });
    // Where the system names no run of the machine, nothing is demonstrated, and the owner seems to live.
    const knowsBoot = existsSync("/proc/sys/kernel/random/boot_id");
    const appended = await journal.append([eventNumber(1)]).then(
      () => true,
      () => false,
    );
    expect(appended).toBe(knowsBoot);
  });

  it("of another host is never judged from here", async () => {
    const journal = journalIn(temporaryDirectory());
    lock(journal.path, { pid: 2 ** 22 + 5, host: "ffffffff", token: "elsewhere", createdAt: OLD });
    expect(await codeOf(journal.append([eventNumber(1)]))).toBe("journal_locked");
  });

  it("whose record cannot be read is left alone", async () => {
    const journal = journalIn(temporaryDirectory());
    lock(journal.path, "nobody");
    expect(await codeOf(journal.append([eventNumber(1)]))).toBe("journal_locked");
  });

  it("that somebody took over meanwhile is not released by us", async () => {
    const directory = temporaryDirectory();
    const journal = journalIn(directory);
    await journal.append([eventNumber(1)]);
    lock(journal.path, { pid: process.pid, token: "another", createdAt: OLD });
    expect(await codeOf(journal.append([eventNumber(2)]))).toBe("journal_locked");
    expect(readFileSync(join(`${journal.path}.lock`, "owner.json"), "utf8")).toContain("another");
  });
});
