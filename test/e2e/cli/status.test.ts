import { join } from "node:path";
import { type ChildView, type SummaryView, VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { type CollectorProcess, startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { makeEvent } from "../../kit/events.ts";
import { type ProgramEnd, runCommand, startCommand } from "../../kit/program.ts";
import { submit } from "../../kit/submit.ts";

function startTestCollector(argv: readonly string[] = []): Promise<CollectorProcess> {
  return startCollector(join(temporaryDirectory(), "collector.db"), argv);
}

function status(collector: CollectorProcess, ...argv: readonly string[]): Promise<ProgramEnd> {
  return runCommand(["status", "--url", collector.apiUrl, ...argv]);
}

/** One child that waits for a person, one that failed, and one adopted. */
async function tellOfThree(collector: CollectorProcess): Promise<void> {
  await submit(collector.ingestUrl, [
    makeEvent({ childId: "asker", sequence: 0, state: "created", details: { name: "reviewer" } }),
    makeEvent({ childId: "asker", sequence: 1, state: "starting", at: 1 }),
    makeEvent({
      childId: "asker",
      sequence: 2,
      state: "waiting",
      at: 2,
      details: { waitingOn: { kind: "permission", text: "may I delete\u001b[2J the branch?" } },
    }),
    makeEvent({ childId: "builder", sequence: 0, state: "created" }),
    makeEvent({
      childId: "builder",
      sequence: 1,
      state: "failed",
      at: 1,
      details: { cause: "exit_code", exitCode: 2 },
    }),
    makeEvent({ childId: "old", state: "running", lineage: { external: true }, activity: "indexing" }),
  ]);
}

describe("status", () => {
  test("shows no rows and exactly one sentence when no evidence was ever seen (D2)", async () => {
    const collector = await startTestCollector();
    const { exitCode, stdout } = await status(collector);
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toBe(`${VISIBILITY_UNAVAILABLE}\n`);
    const json = JSON.parse((await status(collector, "--json")).stdout.toString()) as { readonly summary: SummaryView };
    expect(json).toMatchObject({ summary: { evidenceSeen: false, started: 0 }, children: [] });
  });

  test("shows each child with its literal state, what it does, and counts that add up (D1, D4)", async () => {
    const collector = await startTestCollector();
    await tellOfThree(collector);
    const lines = (await status(collector)).stdout.toString().split("\n");
    expect(lines[0]).toMatch(/^CHILD +STATE +ALIVE +PROGRESS +DOING$/);
    expect(lines.slice(1, 4)).toEqual([
      expect.stringMatching(/^old +▶ running · adopted +\d+[sm] +\d+[sm] +indexing$/),
      expect.stringMatching(/^builder +✘ failed +ended +\d+\w +cause exit_code · exit code 2$/),
      expect.stringMatching(
        /^reviewer \(asker\) +‖ waiting +\d+[sm] +\d+[sm] +on permission: may I delete \[2J the branch\?$/,
      ),
    ]);
    expect(lines[5]).toBe("3 started = 2 live + 0 completed + 1 failed + 0 cancelled + 0 lost");
  });

  test("prints summary and children as one JSON object", async () => {
    const collector = await startTestCollector();
    await tellOfThree(collector);
    const { stdout } = await status(collector, "--json");
    const overview = JSON.parse(stdout.toString()) as {
      readonly summary: object;
      readonly children: readonly ChildView[];
    };
    expect(overview.summary).toMatchObject({ started: 3, live: 2, byState: { waiting: 1, failed: 1, running: 1 } });
    expect(overview.children.map(({ childId, state }) => [childId, state])).toEqual([
      ["old", "running"],
      ["builder", "failed"],
      ["asker", "waiting"],
    ]);
  });

  test("says when more children are known than were asked for", async () => {
    const collector = await startTestCollector();
    await tellOfThree(collector);
    const { stdout } = await status(collector, "--limit", "2");
    expect(stdout.toString()).toContain("only the newest 2 are shown\n");
    expect(stdout.toString()).not.toContain("asker");
  });

  test("answers a script by its exit code", async () => {
    const collector = await startTestCollector();
    await tellOfThree(collector);
    const cases = [
      [["failed"], 1],
      [["waiting"], 1],
      [["lost"], 0],
      [["lost", "failed"], 1],
      [["lost,stale"], 0],
    ] as const;
    for (const [findings, exitCode] of cases) {
      expect((await status(collector, "--fail-on", ...findings)).exitCode, findings.join()).toBe(exitCode);
    }
    const unknown = await status(collector, "--fail-on", "sad");
    expect(unknown.exitCode).toBe(2);
    expect(unknown.stderr.toString()).toContain("--fail-on takes lost, failed, stale, waiting, not sad");
  });

  test("says in one sentence that no collector is there, with exit code 2", async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    const { exitCode, stdout, stderr } = await runCommand(["status", "--url", url]);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.toString()).toMatch(
      new RegExp(
        `^agent-lifecycle: no collector answers at ${url} \\(.+\\); start one with: agent-lifecycle collector\n$`,
      ),
    );
  });

  test("reads a collector that wants a token, and only with it", async () => {
    const collector = await startTestCollector(["--read-token", "open-sesame"]);
    const refused = await status(collector);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr.toString()).toBe(
      `agent-lifecycle: the collector at ${collector.apiUrl} asks for a token: --read-token, or AGENT_LIFECYCLE_READ_TOKEN\n`,
    );
    const environment = { AGENT_LIFECYCLE_READ_TOKEN: "open-sesame" };
    const { exitCode, stdout } = await runCommand(["status", "--url", collector.apiUrl], { environment });
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: `${VISIBILITY_UNAVAILABLE}\n` });
  });
});

describe("watch", () => {
  test("shows what is, then every change of fact, says when the connection is lost, and ends by a signal with 0", async () => {
    const collector = await startTestCollector();
    const watch = startCommand(["watch", "--url", collector.apiUrl, "--interval-ms", "20"]);
    await watch.line((line) => line === VISIBILITY_UNAVAILABLE);
    await tellOfThree(collector);
    await watch.line((line) => /^old +▶ running/.test(line));
    await collector.endBy("SIGTERM");
    await watch.line((line) => line.startsWith("no answer; what is shown is old: no collector answers"));
    watch.process.kill("SIGINT");
    const { exitCode, stdout } = await watch.end;
    expect(exitCode).toBe(0);
    // Nothing was printed twice for a change of age alone.
    expect(stdout.toString().match(/^no answer/gm)).toHaveLength(1);
    expect(stdout.toString().match(/^old /gm)).toHaveLength(1);
  });

  test("ends when nobody reads it any more", async () => {
    const collector = await startTestCollector();
    const watch = startCommand(["watch", "--url", collector.apiUrl, "--interval-ms", "20"]);
    await watch.line((line) => line === VISIBILITY_UNAVAILABLE);
    watch.process.stdout.destroy();
    await tellOfThree(collector);
    const { exitCode, stderr } = await watch.end;
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  });
});
