import { join } from "node:path";
import { expect, test } from "vitest";
import { type CollectorProcess, startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { makeEvent } from "../../kit/events.ts";
import { fixture, runCommand, startCommand } from "../../kit/program.ts";
import { submit } from "../../kit/submit.ts";
import { hasTmux, startTerminal } from "../../kit/tmux.ts";

const it = test.skipIf(!hasTmux());

function watchIn(collector: CollectorProcess, columns: number, rows: number) {
  const program = [process.execPath, "--conditions=@agent-lifecycle/source", fixture("agent-lifecycle.mjs")];
  return startTerminal([...program, "watch", "--url", collector.apiUrl], columns, rows);
}

async function tellOfMany(collector: CollectorProcess): Promise<void> {
  await submit(collector.ingestUrl, [
    ...Array.from({ length: 40 }, (_, index) =>
      makeEvent({ childId: `child-${index}`, state: "created", sequence: 0, at: index, activity: `item ${index}` }),
    ),
    makeEvent({ childId: "asker", state: "created", sequence: 0 }),
    makeEvent({ childId: "asker", state: "starting", sequence: 1, at: 1 }),
    makeEvent({
      childId: "asker",
      state: "waiting",
      sequence: 2,
      at: 2,
      details: { waitingOn: { kind: "permission", text: "may I push?" } },
    }),
  ]);
}

it("draws a live view that scrolls, filters, opens a child, follows a resize, and gives the terminal back", async () => {
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
  await tellOfMany(collector);
  const terminal = watchIn(collector, 100, 20);
  const first = await terminal.until((screen) => screen.includes("● live") && screen.includes("asker"));
  expect(first[1]).toMatch(/^41 started = 41 live \+ 0 completed/);
  expect(first[2]).toMatch(/^CHILD +STATE +ALIVE +PROGRESS +DOING$/);
  // What needs a person comes first, however old.
  expect(first[3]).toMatch(/^asker +‖ waiting .* on permission: may I push\?$/);
  expect(first.join("\n")).not.toContain("child-2 ");
  terminal.press("End");
  await terminal.until((screen) => screen.includes("child-0 ") && !screen.includes("asker"));
  terminal.press("/");
  terminal.press("-l", "child-17");
  terminal.press("Enter");
  await terminal.until((screen) => screen.includes('1 of 41 all matching "child-17"') && !screen.includes("child-0 "));
  terminal.press("Down", "Enter");
  const opened = await terminal.until((screen) => screen.includes("capabilities"));
  expect(opened.join("\n")).toMatch(/state +created\n +since .*\n +alive +heard of/);
  terminal.press("Left", "Escape");
  await terminal.until((screen) => screen.includes("41 of 41 all"));
  terminal.press("Home");
  terminal.resize(60, 10);
  const small = await terminal.until(
    (screen) => screen.split("\n").filter((line) => line !== "").length <= 10 && screen.includes("asker"),
  );
  expect(Math.max(...small.map((line) => line.length))).toBeLessThanOrEqual(60);
  await submit(collector.ingestUrl, [makeEvent({ childId: "asker", state: "failed", sequence: 3, at: 3 })]);
  await terminal.until((screen) => /asker +✘ failed/.test(screen));
  await collector.endBy("SIGTERM");
  await terminal.until((screen) => screen.includes("✘ connection lost"));
  terminal.press("q");
  expect(await terminal.end()).toBe(0);
}, 120_000);

test("prints each change as one line, and as JSON", async () => {
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
  await submit(collector.ingestUrl, [makeEvent({ childId: "old", state: "created", sequence: 0 })]);
  const tail = startCommand(["tail", "--url", collector.apiUrl, "--filter", "new"]);
  const json = startCommand(["tail", "--url", collector.apiUrl, "--json"]);
  for (const program of [tail, json]) {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (program.output().stderr.includes("following")) resolve();
      };
      program.process.stderr.on("data", look);
      look();
    });
  }
  await submit(collector.ingestUrl, [
    makeEvent({ childId: "other", state: "created", sequence: 0 }),
    makeEvent({ childId: "new", state: "created", sequence: 0, activity: "begins" }),
  ]);
  expect(await tail.line((line) => line.includes("new"))).toMatch(
    /^\d{4}-.*Z {2}· created {2}new {2}runner {2}begins$/,
  );
  expect(JSON.parse(await json.line((line) => line.includes('"new"')))).toMatchObject({
    childId: "new",
    state: "created",
  });
  tail.process.kill("SIGINT");
  const { exitCode, stdout } = await tail.end;
  expect({ exitCode, lines: stdout.toString().trimEnd().split("\n").length }).toEqual({ exitCode: 0, lines: 1 });
});

test("writes display-only lines for hosts that can only show text (D2, D3)", async () => {
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
  const todo = async () =>
    (await runCommand(["status", "--url", collector.apiUrl, "--format", "todo"])).stdout.toString();
  expect(await todo()).toBe("Background work visibility unavailable; state unknown.\n");
  await submit(collector.ingestUrl, [
    makeEvent({ childId: "a", state: "created", sequence: 0, details: { name: "Reviewer" } }),
    makeEvent({ childId: "b", state: "created", sequence: 0 }),
    makeEvent({ childId: "b", state: "failed", sequence: 1, at: 1, details: { cause: "timeout" } }),
  ]);
  expect((await todo()).split("\n")).toEqual([
    "- [ ] Background work (display-only): 1 of 2 children live; editing this changes nothing",
    expect.stringMatching(/^- \[ \] DISPLAY ONLY b: failed, cause timeout, heard of .* ago$/),
    expect.stringMatching(/^- \[ \] DISPLAY ONLY Reviewer \(a\): created, heard of .* ago$/),
    "",
  ]);
});
