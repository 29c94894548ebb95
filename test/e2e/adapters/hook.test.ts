import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildView } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { hook, toolHook } from "../../kit/agent-hooks.ts";
import { startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { fixture, type Program, type ProgramEnd, runCommand, startCommand, startNode } from "../../kit/program.ts";

function callHook(spool: string, payload: unknown, agent = "claude-code"): Program {
  return startNode(fixture("agent-lifecycle-bin.mjs"), ["hook", agent], {
    environment: { AGENT_LIFECYCLE_HOOKS: spool },
    input: typeof payload === "string" ? payload : JSON.stringify(payload),
  });
}

interface Spooled {
  readonly receivedAt: string;
  readonly order: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

function spooled(spool: string, agent = "claude-code"): readonly Spooled[] {
  const folder = join(spool, agent);
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Spooled);
}

describe("a hook", () => {
  test("spools who and what, never the content, where only its owner reads it", async () => {
    const spool = temporaryDirectory();
    const payload = toolHook("PostToolUse", "Bash", "t1", {
      agent_id: "A1",
      tool_input: { command: "echo secret", subagent_type: "reviewer" },
      tool_response: { stdout: "secret", status: "completed", agentId: "A1" },
      last_assistant_message: "secret",
    });
    const { exitCode, stdout, stderr } = await callHook(spool, payload).end;
    expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([0, "", ""]);
    const [record] = spooled(spool);
    expect(record?.payload).toMatchObject({
      session_id: "root",
      agent_id: "A1",
      tool_response: { status: "completed", agentId: "A1" },
    });
    expect(record?.payload["tool_input"]).toEqual({ subagent_type: "reviewer" });
    expect(JSON.stringify(record)).not.toContain("secret");
    const [segment] = readdirSync(join(spool, "claude-code"));
    expect(statSync(join(spool, "claude-code", segment ?? "")).mode & 0o777).toBe(0o600);
  });

  test("objects to nothing: whatever it is given, it exits with 0 and says nothing on standard output", async () => {
    const spool = temporaryDirectory();
    for (const payload of ["", "not json", "[]"]) {
      const { exitCode, stdout, stderr } = await callHook(spool, payload).end;
      expect([exitCode, stdout.toString()]).toEqual([0, ""]);
      expect(stderr.toString()).toContain("agent-lifecycle hook: ");
    }
    writeFileSync(join(spool, "a file"), "");
    const { exitCode } = await callHook(join(spool, "a file"), hook("Stop")).end;
    expect(exitCode).toBe(0);
  });

  test("many at once lose nothing and mix nothing", async () => {
    const spool = temporaryDirectory();
    const calls = Array.from(
      { length: 12 },
      (_, index) => callHook(spool, toolHook("PreToolUse", "Read", `t${index}`)).end,
    );
    await Promise.all(calls);
    const ids = spooled(spool).map(({ payload }) => payload["tool_use_id"]);
    expect(ids.toSorted()).toEqual(Array.from({ length: 12 }, (_, index) => `t${index}`).toSorted());
  });

  test("loads nothing but itself and what Node.js brings", () => {
    const own = ["hook.ts", "hooks/hook-record.ts", "hooks/hook-spool.ts", "make-folder.ts"];
    for (const file of own) {
      const source = readFileSync(new URL(`../../../sdk/src/${file}`, import.meta.url), "utf8");
      const imports = [...source.matchAll(/from "([^"]+)"/g)].map(([, specifier]) => specifier ?? "");
      const others = imports.filter(
        (specifier) =>
          !/^node:(fs|os|path)$/.test(specifier) && !/(?:hook-(?:record|spool)|make-folder)\.ts$/.test(specifier),
      );
      expect(others).toEqual([]);
    }
  });
});

test("hooks of a session, spooled and followed, are what the board shows, over a restart of the reader", async () => {
  const spool = temporaryDirectory();
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
  const environment = { AGENT_LIFECYCLE_HOOKS: spool };
  const argv = ["ingest", "--format", "claude-code-hooks", "--endpoint", collector.ingestUrl];
  const read = (): Promise<ProgramEnd> => runCommand(argv, { environment });
  const call = async (...payloads: readonly object[]): Promise<void> => {
    for (const payload of payloads) await callHook(spool, payload).end;
  };
  const child = (id: string): Promise<ChildView> => collector.get<ChildView>(`/api/v1/children/claude-code/${id}`);
  await call(
    hook("SessionStart", { source: "startup" }),
    hook("SubagentStart", { agent_id: "A1", agent_type: "reviewer" }),
  );
  expect((await read()).exitCode).toBe(0);
  expect(await child("A1")).toMatchObject({ state: "starting", facts: { agentType: "reviewer" } });
  await call(
    hook("SubagentStop", { agent_id: "A1", agent_type: "reviewer" }),
    hook("SessionEnd", { reason: "logout" }),
  );
  expect((await read()).exitCode).toBe(0);
  expect(await child("A1")).toMatchObject({ state: "completed", provisional: false, conflicts: 0 });
  expect(await child("root")).toMatchObject({ state: "completed", facts: { cause: "logout" } });
  expect((await read()).stderr.toString()).toContain("0 inputs, 0 events");
});

describe("hook install", () => {
  test("edits the user's settings, says what it did, and can be undone", async () => {
    const home = temporaryDirectory();
    const settings = join(home, ".claude", "settings.json");
    mkdirSync(join(home, ".claude"));
    const before = '{\n  "model": "some-model"\n}\n';
    writeFileSync(settings, before, { mode: 0o640 });
    const run = (...argv: readonly string[]): Promise<ProgramEnd> =>
      runCommand(["hook", ...argv], { environment: { HOME: home } });
    expect((await run("install", "claude-code")).stdout.toString()).toBe(`${settings}: changed\n`);
    expect(JSON.parse(readFileSync(settings, "utf8"))).toMatchObject({ model: "some-model", hooks: { Stop: [{}] } });
    expect((await run("install", "claude-code")).stdout.toString()).toBe(`${settings}: nothing to change\n`);
    expect(statSync(settings).mode & 0o777).toBe(0o640);
    await run("uninstall", "claude-code");
    expect(readFileSync(settings, "utf8")).toBe(before);
  });

  test("leaves settings alone that it cannot read", async () => {
    const settings = join(temporaryDirectory(), "settings.json");
    writeFileSync(settings, "{ broken");
    const { exitCode, stderr } = await startCommand(["hook", "install", "claude-code", "--settings", settings]).end;
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toContain("is left as it is");
    expect(readFileSync(settings, "utf8")).toBe("{ broken");
  });
});
