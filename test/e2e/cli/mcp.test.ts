import { join } from "node:path";
import { VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { expect, onTestFinished, test } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { makeEvent } from "../../kit/events.ts";
import { fixture, startCommand } from "../../kit/program.ts";
import { submit } from "../../kit/submit.ts";

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

async function connect(transport: unknown) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  return {
    client,
    call: async (name: string, query: Record<string, unknown> = {}) => {
      const result = (await client.callTool({ name, arguments: query })) as unknown as Result;
      return {
        text: result.content[0]?.text ?? "",
        structured: result.structuredContent,
        isError: result.isError === true,
      };
    },
  };
}

function connectByStreams(url: string) {
  const args = ["--conditions=@agent-lifecycle/source", fixture("agent-lifecycle.mjs"), "mcp", "--url", url];
  return connect(new StdioClientTransport({ command: process.execPath, args }));
}

async function startTestCollector() {
  return startCollector(join(temporaryDirectory(), "collector.db"));
}

const asker = [
  makeEvent({ childId: "asker", state: "created", sequence: 0, details: { name: "Reviewer" } }),
  makeEvent({ childId: "asker", state: "starting", sequence: 1, at: 1 }),
  makeEvent({
    childId: "asker",
    state: "waiting",
    sequence: 2,
    at: 2,
    details: { waitingOn: { kind: "user", text: "which one?" } },
  }),
];

test("an agent is told literal states, freshness and evidence, and why", async () => {
  const collector = await startTestCollector();
  const { client, call } = await connectByStreams(collector.apiUrl);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual([
    "explain_state",
    "list_children",
    "read_child",
    "wait_for_change",
  ]);
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
  expect((await call("list_children")).text).toBe(VISIBILITY_UNAVAILABLE);

  await submit(collector.ingestUrl, [
    ...asker,
    makeEvent({ childId: "b", state: "created", sequence: 0 }),
    makeEvent({ childId: "b", state: "failed", sequence: 3, at: 9 }),
  ]);
  const listed = await call("list_children", { states: ["waiting", "failed"] });
  expect(listed.text.split("\n")).toEqual([
    "2 started = 1 live + 0 completed + 1 failed + 0 cancelled + 0 lost",
    expect.stringMatching(/^b \(source runner\): failed, provisional; heard of .* ago/),
    expect.stringMatching(
      /^asker \(Reviewer, source runner\): waiting; heard of .* ago, progress .* ago; waits on the user: which one\?$/,
    ),
  ]);
  const read = await call("read_child", { source: "runner", childId: "asker" });
  expect(read.structured).toMatchObject({
    child: { state: "waiting" },
    inputs: [{ status: "applied" }, { status: "applied" }, { status: "applied" }],
    audit: [],
  });
  const why = await call("explain_state", { source: "runner", childId: "asker" });
  expect(why.text).toMatch(
    /^It is waiting since 2026-09-01T09:00:00.002Z: its source reported it \(event .*, applied\)\.\nIt was last heard of/,
  );
  expect((await call("explain_state", { source: "runner", childId: "b" })).text).toContain(
    "provisional: missing reports 1–2",
  );
  const nobody = await call("read_child", { source: "runner", childId: "nobody" });
  expect(nobody).toMatchObject({ isError: true, text: "Not found: no evidence of such a child" });
});

test("an agent waits for a change, of any child or of one, and misses none in between", async () => {
  const collector = await startTestCollector();
  await submit(collector.ingestUrl, asker);
  const { call } = await connectByStreams(collector.apiUrl);
  const before = (await call("wait_for_change", { timeoutSeconds: 1 })).structured;
  expect(before).toMatchObject({ changed: [], timedOut: true });
  await submit(collector.ingestUrl, [makeEvent({ childId: "other", state: "created", sequence: 0 })]);
  await submit(collector.ingestUrl, [makeEvent({ childId: "asker", state: "running", sequence: 3, at: 3 })]);
  const one = await call("wait_for_change", { after: before?.["position"], source: "runner", childId: "asker" });
  expect(one.structured).toMatchObject({ changed: [{ childId: "asker", state: "running" }], timedOut: false });
  const waiting = call("wait_for_change", { after: one.structured?.["position"] });
  await submit(collector.ingestUrl, [makeEvent({ childId: "asker", state: "completed", sequence: 4, at: 4 })]);
  expect((await waiting).text).toMatch(/^asker .*: completed; heard of/);
});

test("the same is served over streamable HTTP, to programs of this machine alone", async () => {
  const collector = await startTestCollector();
  await submit(collector.ingestUrl, asker);
  const program = startCommand(["mcp", "--url", collector.apiUrl, "--http-port", "0"]);
  const url = await new Promise<string>((resolve) => {
    program.process.stderr.on("data", () => {
      const found = /MCP at (\S+)/.exec(program.output().stderr)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const { call } = await connect(new StreamableHTTPClientTransport(new URL(url)));
  expect((await call("list_children")).text).toContain("asker (Reviewer, source runner): waiting");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const fromPage = await fetch(url, {
    method: "POST",
    body,
    headers: { origin: "https://example.com", "content-type": "application/json" },
  });
  expect(fromPage.status).toBe(403);
  expect((await fetch(url)).status).toBe(405);
  program.process.kill("SIGTERM");
  expect((await program.end).exitCode).toBe(0);
});

test("an agent is told in words that no collector is there", async () => {
  const { call } = await connectByStreams(`http://127.0.0.1:${await closedPort()}`);
  expect(await call("list_children")).toMatchObject({
    isError: true,
    text: expect.stringContaining("no answer from the collector"),
  });
});
