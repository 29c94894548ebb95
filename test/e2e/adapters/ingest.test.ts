import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildView } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { startCollector } from "../../kit/collector-process.ts";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { type ProgramEnd, runCommand, startCommand } from "../../kit/program.ts";

const lines = (...values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const THREAD = { type: "thread.started", thread_id: "main" };
const TURN = [{ type: "turn.started" }, { type: "turn.completed", usage: { input_tokens: 1, output_tokens: 2 } }];

function ingest(argv: readonly string[], input?: string): Promise<ProgramEnd> {
  return runCommand(["ingest", ...argv], input === undefined ? {} : { input });
}

describe("ingest", () => {
  test("keeps what is good around what is bad, tells of it, and exits with 1", async () => {
    const output = join(temporaryDirectory(), "events.jsonl");
    const input = `${lines(THREAD)}not json\n${lines({ type: "banana" }, ...TURN)}`;
    const { exitCode, stderr } = await ingest(["--format", "codex-exec", "--jsonl", output, "-"], input);
    expect(exitCode).toBe(1);
    expect(stderr.toString()).toContain("malformed: line 2, byte 45: not json");
    expect(stderr.toString()).toContain("unsupported_event (main): banana");
    expect(readEvents(output).flatMap(({ state }) => state ?? [])).toEqual(["created", "starting", "running"]);
  });

  test("bounds what it says", async () => {
    const output = join(temporaryDirectory(), "events.jsonl");
    const { stderr } = await ingest(["--format", "codex-exec", "--jsonl", output, "-"], "x\n".repeat(500));
    expect(stderr.toString().split("\n").length).toBeLessThan(40);
    // The reader of lines tells of 32.
    expect(stderr.toString()).toMatch(/\d+ malformed\n$/);
  });

  test("reads server-sent events as they come from a server", async () => {
    const output = join(temporaryDirectory(), "events.jsonl");
    const event = (type: string, properties: object): string => `data: ${JSON.stringify({ type, properties })}\n\n`;
    const input = `: hello\n\n${event("session.created", { info: { id: "r" } })}${event("session.status", { sessionID: "r", status: { type: "busy" } })}`;
    const { exitCode } = await ingest(["--format", "opencode", "--jsonl", output, "-"], input);
    expect(exitCode).toBe(0);
    expect(readEvents(output).at(-2)).toMatchObject({ state: "running", childId: "r" });
  });

  test("with --run, passes a command's output on, takes its exit code over, and lets it decide", async () => {
    const output = join(temporaryDirectory(), "events.jsonl");
    const program = `process.stdout.write(${JSON.stringify(lines(THREAD, ...TURN))}); process.exitCode = Number(process.argv[1])`;
    for (const [code, state] of [
      [0, "completed"],
      [3, "failed"],
    ] as const) {
      const argv = [
        "--format",
        "codex-exec",
        "--jsonl",
        output,
        "--run",
        "--",
        process.execPath,
        "--eval",
        program,
        String(code),
      ];
      const { exitCode, stdout } = await ingest(argv);
      expect(exitCode).toBe(code);
      expect(stdout.toString()).toBe(lines(THREAD, ...TURN));
      expect(readEvents(output).at(-1)).toMatchObject({ state, details: { exitCode: code } });
    }
  });

  test("with --run, a command that is told to end was cancelled", async () => {
    const output = join(temporaryDirectory(), "events.jsonl");
    const program = `process.stdout.write(${JSON.stringify(lines(THREAD))}); setInterval(() => {}, 60_000)`;
    const run = startCommand([
      "ingest",
      "--format",
      "codex-exec",
      "--jsonl",
      output,
      "--run",
      "--",
      process.execPath,
      "--eval",
      program,
    ]);
    await run.line((line) => line.includes("thread.started"));
    run.process.kill("SIGTERM");
    expect((await run.end).exitCode).toBe(143);
    expect(readEvents(output).at(-1)).toMatchObject({ state: "cancelled", details: { signal: "SIGTERM" } });
  });

  test("exits with 2 when nobody takes the events, and reads on from a checkpoint as if nothing had been", {
    timeout: 90_000,
  }, async () => {
    const folder = temporaryDirectory();
    const file = join(folder, "stream.jsonl");
    const checkpoint = join(folder, "checkpoint");
    const base = ["--format", "process", "--checkpoint", checkpoint];
    writeFileSync(file, lines({ type: "spawn", id: "p", pid: 1 }, { type: "output", id: "p" }));
    const away = await ingest([...base, "--endpoint", `http://127.0.0.1:${await closedPort()}`, file]);
    expect(away.exitCode).toBe(2);
    const collector = await startCollector(join(folder, "collector.db"));
    expect((await ingest([...base, "--endpoint", collector.ingestUrl, file])).exitCode).toBe(0);
    appendFileSync(file, lines({ type: "exit", id: "p", exitCode: 0 }));
    expect((await ingest([...base, "--endpoint", collector.ingestUrl, file])).exitCode).toBe(0);
    const child = await collector.get<ChildView>("/api/v1/children/process/p");
    expect(child).toMatchObject({ state: "completed", provisional: false, conflicts: 0, highestSequence: 3 });
    expect(JSON.parse(readFileSync(checkpoint, "utf8"))).toMatchObject({ pending: [] });
  });

  test("follows a file until it is told to stop", async () => {
    const folder = temporaryDirectory();
    const file = join(folder, "stream.jsonl");
    writeFileSync(file, lines({ type: "spawn", id: "p", pid: 1 }));
    const follow = startCommand(["ingest", "--format", "process", "--jsonl", "stdout", "--follow", file]);
    await follow.line((line) => line.includes('"starting"'));
    appendFileSync(file, lines({ type: "output", id: "p" }));
    await follow.line((line) => line.includes('"running"'));
    follow.process.kill("SIGTERM");
    expect((await follow.end).exitCode).toBe(0);
  });

  test.each([
    [["--format", "banana", "-"], "Allowed choices are"],
    [["--format", "a2a", "--follow", "-"], "cannot be read again"],
    [["--format", "a2a", "--run"], "--run needs a command"],
    [["--format", "a2a", "one", "two"], "one input at a time"],
    [["--format", "a2a", "no such file"], "ENOENT"],
  ])("refuses %j", async (argv, reason) => {
    const { exitCode, stderr } = await ingest(argv);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toContain(reason);
  });
});
