import { adapterFor, openAiAgentsProcessor } from "@agent-lifecycle/sdk/adapters";
import { describe, expect, test } from "vitest";
import { AdapterRun, secondsAfterStart } from "../../../kit/adapter-run.ts";

function run(format: string): AdapterRun {
  const adapter = adapterFor(format);
  if (adapter === undefined) throw new Error(`no adapter for ${format}`);
  return new AdapterRun(adapter);
}

describe("tasks of A2A", () => {
  const update = (taskId: string, state: string, members: object = {}): object => ({
    kind: "status-update",
    taskId,
    contextId: "c",
    status: { state },
    ...members,
  });

  test.each([
    ["working", ["created?", "starting?", "running"]],
    ["input-required", ["created?", "starting?", "waiting"]],
    ["auth-required", ["created?", "starting?", "waiting"]],
    ["completed", ["created?", "starting?", "running?", "completed"]],
    ["failed", ["created?", "failed"]],
    ["canceled", ["created?", "cancelled"]],
    ["rejected", ["created?", "failed"]],
  ])("%s, in both spellings", (word, states) => {
    const named = `TASK_STATE_${word.toUpperCase().replaceAll("-", "_")}`;
    for (const spelling of [word, named]) {
      const tasks = run("a2a").at(0, { id: "t", contextId: "c", kind: "task", status: { state: spelling } });
      expect(tasks.states("t")).toEqual(word === "submitted" ? ["created"] : states);
    }
  });

  test("say when their status is from, and keep the word of a rejection", () => {
    const tasks = run("a2a").at(9, {
      jsonrpc: "2.0",
      id: 1,
      result: { id: "t", status: { state: "rejected", timestamp: secondsAfterStart(4) } },
    });
    expect(tasks.last("t")).toMatchObject({ observedAt: secondsAfterStart(4), details: { cause: "rejected" } });
  });

  test("L23: an unknown state is no state, and the batch goes on", () => {
    const tasks = run("a2a").at(
      0,
      update("t", "working"),
      update("t", "unknown"),
      update("t", "banana"),
      update("u", "completed"),
    );
    expect(tasks.codes()).toEqual(["unsupported_status", "unsupported_status"]);
    expect(tasks.states("t").at(-1)).toBe("running");
    expect(tasks.last("t")).toMatchObject({ kind: "reconciliation" });
    expect(tasks.states("u").at(-1)).toBe("completed");
  });

  test("another task in the context of one that ended is its next attempt; late words about the first are not about it", () => {
    const tasks = run("a2a").at(0, update("t1", "failed")).at(1, update("t2", "working"), update("t1", "completed"));
    expect(tasks.last("t2")?.lineage).toMatchObject({ rootChildId: "t1", attempt: 1 });
    expect(tasks.states("t2")).toEqual(["created?", "starting?", "running"]);
    tasks.at(2, update("t2", "completed")).at(3, update("t3", "submitted"));
    expect(tasks.last("t3")?.lineage).toMatchObject({ rootChildId: "t1", attempt: 2 });
  });
});

describe("tasks of MCP", () => {
  const task = (status: string, members: object = {}): object => ({ taskId: "t", status, ...members });
  const RELATED = { "io.modelcontextprotocol/related-task": { taskId: "t" } };

  test("are polled, and a poll that finds nothing new is no sign of life", () => {
    const tasks = run("mcp-tasks").at(0, { jsonrpc: "2.0", id: 1, result: { task: task("working") } });
    tasks
      .at(5, { jsonrpc: "2.0", id: 2, result: task("working") })
      .at(9, { method: "notifications/tasks/status", params: task("input_required") });
    expect(tasks.states("t")).toEqual(["created?", "starting?", "running", "waiting"]);
    expect(tasks.events).toHaveLength(4);
  });

  test("that are completed with a result that is an error have failed", () => {
    const inline = run("mcp-tasks").at(0, task("working"), task("completed", { result: { isError: true } }));
    expect(inline.last("t")).toMatchObject({ state: "failed", details: { cause: "tool_error" } });
    const asked = run("mcp-tasks").at(0, task("working"), {
      id: 3,
      result: { content: [], isError: true, _meta: RELATED },
    });
    expect(asked.last("t")).toMatchObject({ state: "failed", details: { cause: "tool_error" } });
  });

  test("that are completed without a look at the result have an open outcome", () => {
    expect(run("mcp-tasks").at(0, task("working"), task("completed")).last("t")?.details).toMatchObject({
      cause: "outcome_unverified",
    });
  });

  test("that a server no longer knows have not failed", () => {
    const tasks = run("mcp-tasks").at(0, task("working"), {
      jsonrpc: "2.0",
      id: 4,
      error: { code: -32602, message: "unknown task" },
    });
    expect(tasks.codes()).toEqual(["error_reported"]);
    expect(tasks.states("t").at(-1)).toBe("running");
  });

  test("are read from a list, with one that has an unknown status among them", () => {
    const tasks = run("mcp-tasks").at(0, {
      result: { tasks: [task("working"), { taskId: "u", status: "banana" }, { taskId: "v", status: "cancelled" }] },
    });
    expect(tasks.children()).toEqual(["t", "v"]);
    expect(tasks.codes()).toEqual(["unsupported_status"]);
  });
});

describe("traces of the OpenAI Agents SDK", () => {
  const trace = (type: string): object => ({
    type: `trace.${type}`,
    data: { object: "trace", id: "trace_1", workflow_name: "triage" },
  });
  const span = (type: string, id: string, members: object = {}): object => ({
    type: `span.${type}`,
    data: {
      object: "trace.span",
      id,
      trace_id: "trace_1",
      span_data: { type: "agent", name: "Researcher" },
      ...members,
    },
  });

  test("L32c: the end of the trace ends the trace, and nobody in it", () => {
    const traces = run("openai-agents").at(0, trace("start"), span("start", "s1")).at(0.1, trace("end"));
    expect(traces.states("trace_1").at(-1)).toBe("completed?");
    expect(traces.states("s1")).toEqual(["created?", "starting?", "running"]);
    traces.at(30, span("end", "s1"));
    expect(traces.last("s1")).toMatchObject({ state: "completed", lineage: { parentChildId: "trace_1" } });
  });

  test("L32d: a span that ends without an error has an open outcome; one with an error has failed, or was cancelled", () => {
    const traces = run("openai-agents").at(
      0,
      trace("start"),
      span("start", "a"),
      span("start", "b"),
      span("start", "c"),
    );
    traces.at(
      1,
      span("end", "a"),
      span("end", "b", { error: { message: "no credit", data: null } }),
      span("end", "c", { error: { message: "the run was cancelled" } }),
    );
    expect(traces.last("a")).toMatchObject({
      details: { inferred: true, cause: "outcome_unverified" },
      capabilities: { terminalCause: "unknown" },
    });
    expect(traces.last("b")).toMatchObject({ state: "failed", details: { cause: "no credit" } });
    expect(traces.last("c")).toMatchObject({ state: "cancelled" });
  });

  test("an agent used as a tool is a child of the agent that uses it; a handoff makes none", () => {
    const traces = run("openai-agents").at(0, trace("start"), span("start", "outer"));
    traces.at(1, span("start", "f", { parent_id: "outer", span_data: { type: "function", name: "ask_expert" } }));
    traces.at(2, span("start", "inner", { parent_id: "f" }));
    traces.at(
      3,
      span("start", "h", { parent_id: "outer", span_data: { type: "handoff", from_agent: "A", to_agent: "B" } }),
    );
    expect(traces.children()).toEqual(["trace_1", "outer", "inner"]);
    expect(traces.last("inner")?.lineage).toMatchObject({ parentChildId: "outer", rootChildId: "trace_1" });
  });

  test("the processor writes what is read here, and none of the content", async () => {
    const records: object[] = [];
    const processor = openAiAgentsProcessor((record) => records.push(record));
    const item = (value: object): { toJSON(): object } => ({ toJSON: () => value });
    await processor.onTraceStart(item({ id: "trace_1", workflow_name: "triage", metadata: { prompt: "secret" } }));
    await processor.onSpanStart(
      item({ id: "s", trace_id: "trace_1", span_data: { type: "agent", name: "A", output: "secret" } }),
    );
    await processor.onSpanEnd(
      item({ id: "s", trace_id: "trace_1", span_data: { type: "agent", name: "A" }, error: null }),
    );
    await processor.onTraceEnd(item({ id: "trace_1" }));
    expect(JSON.stringify(records)).not.toContain("secret");
    const traces = run("openai-agents").at(0, ...records);
    expect(traces.states("s").at(-1)).toBe("completed?");
    expect(traces.codes()).toEqual([]);
  });

  test("the processor throws into nobody's run", async () => {
    const processor = openAiAgentsProcessor(() => {
      throw new Error("disk full");
    });
    await expect(processor.onTraceStart({ toJSON: () => ({}) })).resolves.toBeUndefined();
  });
});

describe("processes, as their parent sees them", () => {
  const spawn = { type: "spawn", id: "p", pid: 42, name: "worker" };

  test.each([
    [{ exitCode: 0 }, ["running?", "completed"]],
    [{ exitCode: 2 }, ["failed"]],
    [{ signal: "SIGSEGV" }, ["failed"]],
    [{ signal: "SIGTERM", requested: true }, ["cancelled"]],
  ])("an exit with %j", (exit, states) => {
    const processes = run("process").at(0, spawn, { type: "exit", id: "p", ...exit });
    expect(processes.states("p")).toEqual(["created?", "starting", ...states]);
  });

  test("run from their first output on, and are not lost when nobody watches any more", () => {
    const processes = run("process").at(0, spawn, { type: "output", id: "p" }, { type: "heartbeat", id: "p" }).end();
    expect(processes.states("p").at(-1)).toBe("running");
    expect(
      processes
        .of("p")
        .map(({ kind }) => kind)
        .slice(-2),
    ).toEqual(["heartbeat", "reconciliation"]);
  });

  test("that cannot be started have failed; an exit of nobody ends nobody", () => {
    const processes = run("process").at(0, { type: "spawn_error", id: "p" }, { type: "exit", id: "q", exitCode: 0 });
    expect(processes.states("p")).toEqual(["created", "failed"]);
    expect(processes.codes()).toEqual(["unmatched_terminal"]);
  });
});
