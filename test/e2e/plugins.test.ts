import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PluginKind } from "@agent-lifecycle/collector/parts";
import type { ChildView, DiagnosticsPage, LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { fixture, type Program, startCommand, startNode } from "../kit/program.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/plugin/", import.meta.url));

interface Module {
  readonly kind: PluginKind;
  readonly id: string;
  readonly module: string;
  readonly options?: object;
}

const SPOOL: Module = {
  kind: "receiver",
  id: "module/spool",
  module: join(EXAMPLES, "spool-receiver.js"),
  options: { folder: "./spool", pollIntervalMs: 5 },
};

const CHANGES: Module = {
  kind: "exporter",
  id: "module/changes",
  module: join(EXAMPLES, "state-changes-exporter.js"),
  options: { path: "./changes.jsonl" },
};

function startWithModules(folder: string, ...modules: readonly Module[]): Program {
  const members = (kind: PluginKind): object =>
    Object.fromEntries(
      modules.filter((module) => module.kind === kind).map(({ id, module, options }) => [id, { module, options }]),
    );
  const endpoint = "127.0.0.1:0";
  const receivers = { otlp: { protocols: { http: { endpoint } } }, ...members("receiver") };
  const configuration = {
    receivers,
    exporters: members("exporter"),
    api: { endpoint },
    storage: { path: "collector.db" },
  };
  const file = join(folder, "collector.yaml");
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(configuration));
  return startCommand(["collector", "--json", "--config", file]);
}

async function apiOf(program: Program): Promise<string> {
  return (JSON.parse(await program.line((line) => line.startsWith("{"))) as { readonly api: string }).api;
}

async function get<Answer>(api: string, path: string): Promise<Answer> {
  return (await (await fetch(new URL(path, api))).json()) as Answer;
}

/** Puts a file into the spool as its writers do: whole or not at all. */
function spool(folder: string, name: string, content: string): void {
  mkdirSync(join(folder, "spool"), { recursive: true });
  writeFileSync(join(folder, "spool", `${name}.aside`), content);
  renameSync(join(folder, "spool", `${name}.aside`), join(folder, "spool", `${name}.json`));
}

interface ChangeLine {
  readonly inputId: number;
  readonly childId: string;
  readonly state: string;
}

function changesIn(folder: string): readonly ChangeLine[] {
  const lines = readFileSync(join(folder, "changes.jsonl"), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as ChangeLine);
}

const STATES = ["created", "starting", "running", "completed"] as const;

function historyOf(childId: string): readonly LifecycleEvent[] {
  return STATES.map((state, sequence) => makeEvent({ childId, state, sequence, at: sequence }));
}

describe("modules of others", () => {
  test("bring events in and take changes out, with a crash in between, and nothing is lost or there twice", async () => {
    const folder = temporaryDirectory();
    const crashed = startWithModules(folder, SPOOL, CHANGES);
    await apiOf(crashed);
    for (const [index, event] of historyOf("a").entries()) spool(folder, `a${index}`, JSON.stringify(event));
    await expect.poll(() => changesIn(folder).length, { timeout: 10_000 }).toBe(4);
    crashed.process.kill("SIGKILL");
    await crashed.end;

    for (const [index, event] of historyOf("b").entries()) spool(folder, `b${index}`, JSON.stringify(event));
    // What a crash in the middle of a line would leave.
    appendFileSync(join(folder, "changes.jsonl"), '{"inputId":99,"chi');
    const program = startWithModules(folder, SPOOL, CHANGES);
    const api = await apiOf(program);
    await expect.poll(() => changesIn(folder).length, { timeout: 10_000 }).toBe(8);
    expect(changesIn(folder).map(({ childId, state }) => `${childId} ${state}`)).toEqual(
      ["a", "b"].flatMap((childId) => STATES.map((state) => `${childId} ${state}`)),
    );
    const ids = changesIn(folder).map(({ inputId }) => inputId);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    expect(new Set(ids).size).toBe(8);
    const child = await get<ChildView>(api, "/api/v1/children/runner/b");
    expect(child).toMatchObject({ state: "completed", provisional: false });
    expect(readdirSync(join(folder, "spool"))).toEqual(["refused"]);
    program.process.kill("SIGTERM");
    const { exitCode, stderr } = await program.end;
    expect(exitCode).toBe(0);
    expect(stderr.toString()).not.toContain('"level":"error"');
  });

  test("go through the same door: what is bad is refused and told under their name, and redacted", async () => {
    const folder = temporaryDirectory();
    const program = startWithModules(folder, SPOOL);
    const api = await apiOf(program);
    const [created] = historyOf("a");
    const details = { note: "password=hunter2hunter2" };
    spool(folder, "0", "{ not json");
    spool(folder, "1", JSON.stringify({ ...created, details }));
    spool(folder, "2", JSON.stringify({ ...created, childId: "" }));
    spool(folder, "3", `"${"x".repeat(70_000)}"`);
    await expect.poll(() => readdirSync(join(folder, "spool")), { timeout: 10_000 }).toEqual(["refused"]);
    expect(readdirSync(join(folder, "spool", "refused")).toSorted()).toEqual(["0.json", "2.json", "3.json"]);
    const { diagnostics } = await get<DiagnosticsPage>(api, "/api/v1/diagnostics");
    expect(diagnostics.map(({ code, receiver }) => `${receiver} ${code}`).toSorted()).toEqual([
      "module/spool invalid_event",
      "module/spool malformed",
      "module/spool oversize",
    ]);
    expect(JSON.stringify(await get(api, "/api/v1/children/runner/a/events"))).not.toContain("hunter2");
    const metrics = await (await fetch(new URL("/metrics", api))).text();
    expect(metrics).toContain('agent_lifecycle_events_total{receiver="module/spool",status="applied"} 1');
    program.process.kill("SIGTERM");
    expect((await program.end).exitCode).toBe(0);
  });

  test.each([
    ["throws", 'throw new Error("no such device")', "module/bad could not start: no such device"],
    ["hangs", "return new Promise(() => {})", "module/bad did not start within 10000 ms"],
  ])("that a start %s of are named, and the start fails in order", async (_what, statement, message) => {
    const folder = temporaryDirectory();
    writeFileSync(
      join(folder, "bad.mjs"),
      `export const componentApiVersion = 1;
       export const createReceiver = () => ({ start() { ${statement} }, async shutdown() {} });`,
    );
    const program = startWithModules(folder, SPOOL, { kind: "receiver", id: "module/bad", module: "./bad.mjs" });
    const { exitCode, stderr } = await program.end;
    expect(stderr.toString()).toContain(message);
    expect(exitCode).toBe(2);
  });

  test("that hang at their end hold nothing up for long", async () => {
    const folder = temporaryDirectory();
    writeFileSync(
      join(folder, "bad.mjs"),
      `export const componentApiVersion = 1;
       export const createReceiver = () => ({ async start() {}, shutdown: () => new Promise(() => {}) });`,
    );
    const program = startWithModules(folder, { kind: "receiver", id: "module/bad", module: "./bad.mjs" }, SPOOL);
    await apiOf(program);
    program.process.kill("SIGTERM");
    const { exitCode, stderr } = await program.end;
    expect(stderr.toString()).toContain("did not shut down in time");
    expect(exitCode).toBe(0);
  });
});

describe("the contract of components", () => {
  test("runs under another test runner, as the example's README shows", async () => {
    const { exitCode, stdout } = await startNode(fixture("contract-by-node-test.mjs")).end;
    expect(stdout.toString()).toMatch(/\bpass 8\b/);
    expect(exitCode).toBe(0);
  });

  test("and fails there for a receiver that breaks it", async () => {
    const { exitCode, stdout } = await startNode(fixture("contract-by-node-test.mjs"), ["broken"]).end;
    expect(stdout.toString()).toMatch(/\bfail 8\b/);
    expect(exitCode).toBe(1);
  });
});
