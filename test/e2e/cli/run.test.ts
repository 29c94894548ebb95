import { once } from "node:events";
import { join } from "node:path";
import type { ChildView } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../../kit/child-history.ts";
import { closedPort } from "../../kit/closed-port.ts";
import { type CollectorProcess, startCollector } from "../../kit/collector-process.ts";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { type Program, type ProgramOptions, startCommand } from "../../kit/program.ts";
import { SeededRandom } from "../../kit/seeded-random.ts";

const SOURCE = "agent-lifecycle-run";

function startTestCollector(): Promise<CollectorProcess> {
  return startCollector(join(temporaryDirectory(), "collector.db"));
}

function startRun(collector: CollectorProcess, command: readonly string[], options: ProgramOptions = {}): Program {
  return startCommand(["run", "--endpoint", collector.ingestUrl, "--child-id", "child", "--", ...command], options);
}

function childOf(collector: CollectorProcess): Promise<ChildView> {
  return collector.get<ChildView>(`/api/v1/children/${SOURCE}/child`);
}

async function statesOf(collector: CollectorProcess): Promise<readonly (string | undefined)[]> {
  const history = await historyOf(collector, SOURCE, "child");
  return history.flatMap(({ event }) => (event?.state === undefined ? [] : [event.state]));
}

const { execPath: NODE } = process;

describe("run reports what can be observed of a command", () => {
  test("that ends with 0: completed", async () => {
    const collector = await startTestCollector();
    const { exitCode } = await startRun(collector, [NODE, "--eval", "console.log('done')"]).end;
    expect(exitCode).toBe(0);
    expect(await childOf(collector)).toMatchObject({
      state: "completed",
      terminalEvidence: "event",
      facts: { exitCode: 0, name: "node" },
      capabilities: { heartbeat: "known", terminalCause: "known", cancel: "unknown" },
      provisional: false,
    });
    expect(await statesOf(collector)).toEqual(["created", "starting", "running", "completed"]);
  });

  test("that ends with another code: failed, and the code is the wrapper's own", async () => {
    const collector = await startTestCollector();
    const { exitCode } = await startRun(collector, [NODE, "--eval", "process.exit(7)"]).end;
    expect(exitCode).toBe(7);
    expect(await childOf(collector)).toMatchObject({ state: "failed", facts: { cause: "exit_code", exitCode: 7 } });
  });

  test("that is killed: failed by the signal, and the wrapper ends with 128 + its number", async () => {
    const collector = await startTestCollector();
    const { exitCode } = await startRun(collector, [NODE, "--eval", "process.kill(process.pid, 'SIGKILL')"]).end;
    expect(exitCode).toBe(137);
    expect(await childOf(collector)).toMatchObject({ state: "failed", facts: { cause: "signal", signal: "SIGKILL" } });
  });

  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const) {
    test(`that we are told to end by ${signal}: it gets the signal, and was cancelled`, async () => {
      const collector = await startTestCollector();
      const run = startRun(collector, [NODE, "--eval", "console.log('up'); setInterval(() => {}, 60_000)"]);
      await run.line((line) => line === "up");
      run.process.kill(signal);
      expect(await run.end).toMatchObject({ exitCode: code, signal: null });
      expect(await childOf(collector)).toMatchObject({ state: "cancelled", facts: { cause: "signal", signal } });
      expect(await statesOf(collector)).toEqual(["created", "starting", "running", "cancelled"]);
    });
  }

  test("that finishes in peace after the signal: what it says with its exit code counts", async () => {
    const collector = await startTestCollector();
    const peaceful = "process.on('SIGTERM', () => process.exit(0)); console.log('up'); setInterval(() => {}, 60_000)";
    const run = startRun(collector, [NODE, "--eval", peaceful]);
    await run.line((line) => line === "up");
    run.process.kill("SIGTERM");
    expect(await run.end).toMatchObject({ exitCode: 0 });
    expect(await childOf(collector)).toMatchObject({ state: "completed", facts: { exitCode: 0 } });
  });

  test("that does not exist: failed before it started, exit code 127", async () => {
    const collector = await startTestCollector();
    const { exitCode, stderr } = await startRun(collector, ["no-such-program-anywhere"]).end;
    expect(exitCode).toBe(127);
    expect(stderr.toString()).toBe("agent-lifecycle run: spawn no-such-program-anywhere ENOENT\n");
    expect(await childOf(collector)).toMatchObject({ state: "failed", facts: { cause: "spawn_failed" } });
    expect(await statesOf(collector)).toEqual(["created", "failed"]);
  });

  test("that is no program: exit code 126", async () => {
    const collector = await startTestCollector();
    const { exitCode } = await startRun(collector, [temporaryDirectory()]).end;
    expect(exitCode).toBe(126);
    expect(await childOf(collector)).toMatchObject({ state: "failed", facts: { cause: "spawn_failed" } });
  });

  test("with its place in a tree and its name", async () => {
    const collector = await startTestCollector();
    const lineage = ["--parent", "planner", "--root", "root", "--name", "unit tests", "--source", "ci"];
    const run = startCommand([
      ...["run", "--endpoint", collector.ingestUrl, "--child-id", "child", ...lineage],
      ...["--", NODE, "--eval", ""],
    ]);
    expect(await run.end).toMatchObject({ exitCode: 0 });
    expect(await collector.get<ChildView>("/api/v1/children/ci/child")).toMatchObject({
      lineage: { rootChildId: "root", parentChildId: "planner", attempt: 0, external: false },
      facts: { name: "unit tests" },
      // It was never seen at work; that it ended well implies that it was.
      state: "completed",
    });
  });
});

describe("run is not in the way of the command", () => {
  test("bytes pass unchanged in all three streams", async () => {
    const collector = await startTestCollector();
    const random = new SeededRandom(1);
    const bytes = Buffer.from(Array.from({ length: 300_000 }, () => random.below(256)));
    const copy = "process.stdin.on('data', (chunk) => { process.stdout.write(chunk); process.stderr.write(chunk); })";
    const { exitCode, stdout, stderr } = await startRun(collector, [NODE, "--eval", copy], { input: bytes }).end;
    expect(exitCode).toBe(0);
    expect(stdout.equals(bytes)).toBe(true);
    expect(stderr.equals(bytes)).toBe(true);
  });

  test("options after the command are the command's own", async () => {
    const collector = await startTestCollector();
    const { stdout } = await startRun(collector, [NODE, "-p", "process.argv.slice(1).join()", "--", "--json", "--name"])
      .end;
    expect(stdout.toString()).toBe("--json,--name\n");
  });

  test("when its reader goes away, the command meets a closed pipe, and its end is reported", async () => {
    const collector = await startTestCollector();
    const endless = "setInterval(() => process.stdout.write('y'), 5)";
    const run = startRun(collector, [NODE, "--eval", endless]);
    await once(run.process.stdout, "data");
    run.process.stdout.destroy();
    const { exitCode, stderr } = await run.end;
    expect(exitCode).toBe(1);
    expect(stderr.toString()).not.toContain("run-child");
    expect(await childOf(collector)).toMatchObject({ state: "failed", facts: { exitCode: 1 } });
  });

  test("without a collector it runs all the same, says why, and the events are in the file", async () => {
    const file = join(temporaryDirectory(), "events.jsonl");
    const port = await closedPort();
    const endpoint = `http://127.0.0.1:${port}`;
    const run = startCommand(["run", "--endpoint", endpoint, "--fallback-jsonl", file, "--", NODE, "-p", "'output'"]);
    const { exitCode, stdout, stderr } = await run.end;
    expect({ exitCode, stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({
      exitCode: 0,
      stdout: "output\n",
      stderr: `agent-lifecycle run: connect ECONNREFUSED 127.0.0.1:${port}\n`,
    });
    expect(readEvents(file).map(({ state }) => state)).toEqual(["created", "starting", "running", "completed"]);
  });

  test("without a collector and without a file it says how much was lost, and the exit code stays the command's", async () => {
    const port = await closedPort();
    const run = startCommand(["run", "--endpoint", `http://127.0.0.1:${port}`, "--", NODE, "-e", "process.exit(5)"]);
    const { exitCode, stderr } = await run.end;
    expect(exitCode).toBe(5);
    expect(stderr.toString()).toBe(
      `agent-lifecycle run: connect ECONNREFUSED 127.0.0.1:${port}\n` +
        "agent-lifecycle run: 3 events could not be delivered\n",
    );
  });
});
