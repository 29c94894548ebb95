import { adapterFor } from "@agent-lifecycle/sdk/adapters";
import { describe, expect, test } from "vitest";
import { AdapterRun } from "../../../kit/adapter-run.ts";

function run(format: string): AdapterRun {
  const adapter = adapterFor(format);
  if (adapter === undefined) throw new Error(`no adapter for ${format}`);
  return new AdapterRun(adapter);
}

describe("claude --output-format stream-json", () => {
  const line = (type: string, members: object = {}): object => ({ type, session_id: "s", uuid: "u", ...members });
  const system = (subtype: string, members: object = {}): object => line("system", { subtype, ...members });
  const INIT = system("init", { model: "some-model", cwd: "/p", tools: [] });
  const start = (tool_use_id = "U1", members: object = {}): object =>
    system("task_started", {
      task_id: "T1",
      tool_use_id,
      task_type: "local_agent",
      subagent_type: "coder",
      ...members,
    });
  const SUCCESS = line("result", {
    subtype: "success",
    is_error: false,
    total_cost_usd: 0.5,
    usage: { input_tokens: 3 },
  });

  test("a session with a result is completed", () => {
    const stream = run("claude-stream-json").at(
      0,
      INIT,
      line("assistant", { message: { content: [{ type: "text", text: "secret" }] } }),
      SUCCESS,
    );
    expect(stream.states("s")).toEqual(["created?", "starting?", "running", "completed"]);
    expect(JSON.stringify(stream.events)).not.toContain("secret");
    expect(stream.of("s").find(({ activity }) => activity === "result")?.details?.usage).toEqual({
      inputTokens: 3,
      costUsd: 0.5,
    });
  });

  test("a success with tasks that still run waits for them", () => {
    const stream = run("claude-stream-json").at(0, INIT, start(), SUCCESS);
    expect(stream.last("s")).toMatchObject({
      state: "waiting",
      details: { waitingOn: { kind: "child", childId: "T1" } },
    });
    stream.at(9, system("task_notification", { task_id: "T1", status: "completed" }));
    expect(stream.states("s").at(-1)).toBe("completed");
  });

  test.each([
    [{ subtype: "error_max_turns" }, "failed", "error_max_turns"],
    [{ subtype: "success", is_error: true }, "failed", "error_result"],
    [{ subtype: "error_during_execution", terminal_reason: "aborted_by_user" }, "cancelled", "aborted_by_user"],
  ])("the result %j is %s", (result, state, cause) => {
    expect(run("claude-stream-json").at(0, INIT, line("result", result)).last("s")).toMatchObject({
      state,
      details: { cause },
    });
  });

  test("L04: what a task does after its end is passed on as it is, and changes nothing", () => {
    const stream = run("claude-stream-json")
      .at(0, INIT, start())
      .at(600, system("task_notification", { task_id: "T1", status: "completed" }));
    stream.at(
      605,
      line("assistant", { parent_tool_use_id: "U1", message: { content: [{ type: "tool_use", name: "Bash" }] } }),
    );
    stream.at(3_600, system("task_updated", { task_id: "T1", patch: { status: "killed" } }));
    expect(stream.children()).toEqual(["s", "T1"]);
    expect(stream.states("T1").slice(-2)).toEqual(["completed", "cancelled"]);
    expect(stream.state.ended.get("T1")).toMatchObject({ state: "completed" });
  });

  test("L06: a task that failed and is started by another call is another attempt; by the same call it is not", () => {
    const stream = run("claude-stream-json").at(0, INIT, start("U1"));
    stream
      .at(300, system("task_notification", { task_id: "T1", tool_use_id: "U1", status: "failed" }))
      .at(350, start("U1"));
    expect(stream.codes()).toEqual(["duplicate_start"]);
    stream
      .restarted()
      .at(400, start("U2"))
      .at(500, system("task_notification", { task_id: "T1", tool_use_id: "U1", status: "failed" }));
    stream.at(600, system("task_notification", { task_id: "T1", tool_use_id: "U2", status: "completed" }));
    expect(stream.states("T1")).toEqual(["created?", "starting?", "running", "failed"]);
    expect(stream.states("T1#1")).toEqual(["created?", "starting?", "running", "completed"]);
    expect(stream.last("T1#1")?.lineage).toEqual({ rootChildId: "s", parentChildId: "s", attempt: 1, external: false });
  });

  test("messages of a task that has not begun yet wait for it", () => {
    const stream = run("claude-stream-json").at(
      0,
      INIT,
      line("assistant", { parent_tool_use_id: "U1", message: { content: [{ type: "tool_use", name: "Bash" }] } }),
    );
    expect(stream.codes()).toEqual(["activity_for_unknown_child"]);
    stream.at(1, start("U1"));
    expect(stream.last("T1")).toMatchObject({ kind: "activity", activity: "Bash" });
  });

  test("a task that the list leaves out is to be asked about, and an ambient one is none", () => {
    const stream = run("claude-stream-json").at(0, INIT, start(), start("U9", { task_id: "T9", ambient: true }));
    stream.at(1, system("background_tasks_changed", { tasks: [] }));
    expect(stream.last("T1")).toMatchObject({ kind: "reconciliation" });
    expect(stream.children()).toEqual(["s", "T1"]);
  });

  test("L23: an unknown status is a diagnostic and a hint; the others of the batch are read", () => {
    const stream = run("claude-stream-json").at(0, INIT, start(), start("U2", { task_id: "T2" }));
    stream.at(
      100,
      system("task_notification", { task_id: "T1", status: "banana" }),
      system("task_notification", { task_id: "T2", status: "completed" }),
    );
    expect(stream.codes()).toEqual(["unsupported_status"]);
    expect(stream.states("T1").at(-1)).toBe("running");
    expect(stream.last("T1")).toMatchObject({ kind: "reconciliation" });
    expect(stream.states("T2").at(-1)).toBe("completed");
  });

  test.each([
    [{}, "running"],
    [{ exitCode: 0 }, "completed?"],
    [{ exitCode: 3 }, "failed"],
    [{ signal: "SIGKILL" }, "failed"],
    [{ signal: "SIGTERM", requested: true }, "cancelled"],
  ])("L32e: a stream that ends without a result, %j, leaves the session %s", (end, state) => {
    expect(run("claude-stream-json").at(0, INIT).end(end).states("s").at(-1)).toBe(state);
  });
});

describe("codex exec --json", () => {
  const THREAD = { type: "thread.started", thread_id: "main" };
  const item = (line: string, members: object): object => ({ type: `item.${line}`, item: { id: "i1", ...members } });
  const spawn = (line: string, members: object = {}): object =>
    item(line, {
      type: "collab_tool_call",
      tool: "spawn_agent",
      sender_thread_id: "main",
      receiver_thread_ids: [],
      agents_states: {},
      ...members,
    });

  test("a turn that completes ends the thread when the process ends with 0, and not before", () => {
    const stream = run("codex-exec").at(
      0,
      THREAD,
      { type: "turn.started" },
      item("completed", { type: "command_execution", status: "failed", exit_code: 1 }),
    );
    stream.at(1, { type: "turn.completed", usage: { input_tokens: 1, output_tokens: 2 } });
    expect(stream.states("main")).toEqual(["created?", "starting", "running"]);
    expect(stream.restarted().end({ exitCode: 0 }).last("main")).toMatchObject({
      state: "completed",
      details: { exitCode: 0 },
    });
  });

  test("a turn that fails is a failure; an error alone is not", () => {
    const stream = run("codex-exec").at(0, THREAD, { type: "error", message: "reconnecting" });
    expect(stream.states("main").at(-1)).toBe("starting");
    stream.at(1, { type: "turn.failed", error: { message: "no credit" } });
    expect(stream.last("main")).toMatchObject({
      state: "failed",
      details: { cause: "turn_failed" },
      capabilities: { terminalCause: "known" },
    });
  });

  test("spawned threads are children, and are what the calls about them say", () => {
    const stream = run("codex-exec")
      .at(0, THREAD, spawn("started"))
      .at(1, spawn("completed", { receiver_thread_ids: ["sub"], agents_states: { sub: { status: "pending_init" } } }));
    const wait = (status: string): object =>
      item("completed", { id: "w", type: "collab_tool_call", tool: "wait", agents_states: { sub: { status } } });
    stream.at(2, wait("running"), wait("running"), wait("completed"), wait("shutdown"));
    expect(stream.children()).toEqual(["main", "i1"]);
    expect(stream.states("i1")).toEqual(["created", "starting?", "running", "completed"]);
    expect(stream.codes()).toEqual([]);
  });

  test("an agent that is not found is not lost, and an unknown status is no state", () => {
    const stream = run("codex-exec").at(
      0,
      THREAD,
      spawn("completed", { receiver_thread_ids: ["sub"], agents_states: { sub: { status: "running" } } }),
    );
    stream.at(
      1,
      spawn("completed", { agents_states: { sub: { status: "not_found" } } }),
      spawn("completed", { agents_states: { sub: { status: "banana" } } }),
    );
    expect(stream.codes()).toEqual(["error_reported", "unsupported_status"]);
    expect(stream.states("i1").at(-1)).toBe("running");
  });

  test("L16: a spawn that never returns stays created, and is cancelled with the run that asked for it", () => {
    const stream = run("codex-exec").at(0, THREAD, spawn("started"));
    expect(stream.states("i1")).toEqual(["created"]);
    stream.end({ at: 18_901, signal: "SIGINT", requested: true });
    expect(stream.last("i1")).toMatchObject({ state: "cancelled", details: { cause: "user_abort" } });
  });
});

describe("events of an OpenCode server", () => {
  const event = (type: string, properties: object = {}): object => ({ type, properties });
  const created = (id: string, parentID?: string): object => event("session.created", { info: { id, parentID } });
  const status = (sessionID: string, members: object): object =>
    event("session.status", { sessionID, status: members });

  test("L21: an error that is retried is no failure, and nothing of the root", () => {
    const stream = run("opencode").at(
      0,
      event("server.connected"),
      created("root"),
      created("task", "root"),
      status("root", { type: "busy" }),
      status("task", { type: "busy" }),
    );
    stream.at(20, event("session.error", { sessionID: "task", error: { name: "APIError" } }));
    stream.at(20.1, status("task", { type: "retry", attempt: 1, message: "secret", next: 25 }));
    expect(stream.last("task")).toMatchObject({
      state: "waiting",
      details: { waitingOn: { kind: "provider_retry", text: "attempt 1" } },
    });
    stream
      .at(25, status("task", { type: "busy" }))
      .at(60, status("task", { type: "idle" }), event("session.idle", { sessionID: "task" }));
    expect(stream.states("task")).toEqual(["created?", "starting", "running", "waiting", "running", "completed?"]);
    expect(stream.states("root")).toEqual(["created?", "starting", "running"]);
    expect(stream.last("task")?.lineage).toMatchObject({ parentChildId: "root" });
  });

  test("an error that nothing follows is the end of a task", () => {
    const stream = run("opencode").at(0, created("root"), created("task", "root"), status("task", { type: "busy" }));
    stream.at(
      1,
      event("session.error", { sessionID: "task", error: { name: "APIError" } }),
      event("session.idle", { sessionID: "task" }),
    );
    expect(stream.last("task")).toMatchObject({ state: "failed", details: { cause: "APIError" } });
  });

  test("a root waits for its user when it is idle; a task that is aborted or deleted is cancelled", () => {
    const stream = run("opencode").at(
      0,
      created("root"),
      created("a", "root"),
      created("b", "root"),
      status("root", { type: "busy" }),
      status("root", { type: "idle" }),
    );
    stream.at(
      1,
      event("session.error", { sessionID: "a", error: { name: "MessageAbortedError" } }),
      event("session.deleted", { info: { id: "b" } }),
    );
    expect(stream.last("root")).toMatchObject({ state: "waiting", details: { waitingOn: { kind: "user" } } });
    expect(stream.states("a").at(-1)).toBe("cancelled");
    expect(stream.last("b")).toMatchObject({ state: "cancelled", details: { cause: "deleted" } });
  });

  test("questions and permissions are waited for until they are answered", () => {
    const stream = run("opencode").at(0, created("root"), status("root", { type: "busy" }));
    stream.at(
      1,
      event("permission.asked", { id: "p", sessionID: "root" }),
      event("permission.replied", { requestID: "p", sessionID: "root" }),
    );
    expect(stream.states("root").slice(-2)).toEqual(["waiting", "running"]);
  });

  test("a new connection begins a new epoch and claims nothing about what was missed", () => {
    const stream = run("opencode").at(
      0,
      event("server.connected"),
      created("root"),
      event("server.connected"),
      status("root", { type: "busy" }),
    );
    expect(stream.of("root").map(({ sourceEpoch }) => sourceEpoch)).toEqual(["run", "run", "run", "run/1"]);
    expect(stream.of("root")[2]).toMatchObject({ kind: "reconciliation" });
  });

  test("heartbeats of the server are nobody's", () => {
    expect(run("opencode").at(0, created("root"), event("server.heartbeat")).events).toHaveLength(2);
  });
});
