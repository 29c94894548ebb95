import { join } from "node:path";
import type { ChildrenPage, ChildView } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { hook, toolHook } from "../../kit/agent-hooks.ts";
import { historyOf } from "../../kit/child-history.ts";
import { openChildStream } from "../../kit/child-stream.ts";
import { type CollectorProcess, startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { runCommand } from "../../kit/program.ts";

/** What a collector shows of everything that a system said. */
class Shown {
  readonly collector: CollectorProcess;
  readonly #source: string;

  constructor(collector: CollectorProcess, source: string) {
    this.collector = collector;
    this.#source = source;
  }

  child(childId: string): Promise<ChildView> {
    return this.collector.get<ChildView>(`/api/v1/children/${this.#source}/${encodeURIComponent(childId)}`);
  }

  async ids(): Promise<readonly string[]> {
    const { children } = await this.collector.get<ChildrenPage>("/api/v1/children?limit=100");
    return children.map(({ childId }) => childId).toSorted();
  }

  async diagnosticsOf(childId: string): Promise<readonly unknown[]> {
    const inputs = await historyOf(this.collector, this.#source, childId);
    return inputs.flatMap(({ event }) => (event?.kind === "diagnostic" ? [event.details?.code] : []));
  }
}

async function show(format: string, inputs: readonly object[], argv: readonly string[] = []): Promise<Shown> {
  return showIn(await startCollector(join(temporaryDirectory(), "collector.db"), argv), "watched", format, inputs);
}

async function showIn(
  collector: CollectorProcess,
  source: string,
  format: string,
  inputs: readonly object[],
): Promise<Shown> {
  const input = inputs.map((value) => `${JSON.stringify(value)}\n`).join("");
  const ingest = ["ingest", "--format", format, "--source", source, "--endpoint", collector.ingestUrl];
  const { exitCode, stderr } = await runCommand([...ingest, "-"], { input });
  expect(stderr.toString()).toContain(" 0 not delivered");
  expect(exitCode).toBeLessThan(2);
  return new Shown(collector, source);
}

const START = hook("SessionStart", { source: "startup" });
const A1 = { agent_id: "A1", agent_type: "reviewer" };

describe("what the board shows of hooks", () => {
  test("L01: an end with an unknown id makes no row and ends nobody; whom it was meant for goes stale, and is not lost without an authority", async () => {
    const shown = await show(
      "claude-code-hooks",
      [
        START,
        hook("SubagentStart", A1),
        toolHook("PreToolUse", "Read", "t1", A1),
        hook("Stop", { background_tasks: [] }),
        hook("SubagentStop", { agent_id: "Z9", agent_type: "" }),
      ],
      ["--stale-after-ms", "1000", "--reconcile-deadline-ms", "200", "--liveness-interval-ms", "50"],
    );
    const stream = await openChildStream(shown.collector.apiUrl);
    await stream.until((child) => child.childId === "A1" && child.stale !== null && child.reconciliation === null);
    expect(await shown.ids()).toEqual(["A1", "root"]);
    expect(await shown.child("A1")).toMatchObject({ state: "running", stale: { reason: "deadline" } });
    expect(await shown.diagnosticsOf("root")).toEqual(["unmatched_terminal"]);
  });

  test("L02: a stray id makes no row; who is known ends as it should", async () => {
    const stray = { agent_id: "S7" };
    const strays = ["a", "b", "c"].flatMap((id) => [
      toolHook("PreToolUse", "Read", id, stray),
      toolHook("PostToolUse", "Read", id, stray),
    ]);
    const shown = await show("claude-code-hooks", [
      START,
      hook("SubagentStart", A1),
      ...strays,
      hook("SubagentStop", A1),
    ]);
    expect(await shown.ids()).toEqual(["A1", "root"]);
    expect(await shown.child("A1")).toMatchObject({
      state: "completed",
      activity: null,
      facts: { cause: "outcome_unverified" },
    });
    expect(await shown.diagnosticsOf("root")).toEqual(Array(6).fill("activity_for_unknown_child"));
  });

  test("L10: an agent that never did anything is starting, not running", async () => {
    const shown = await show("claude-code-hooks", [START, hook("SubagentStart", A1)]);
    expect(await shown.child("A1")).toMatchObject({ state: "starting", provisional: false });
  });

  test("L11: a session whose turn ended while a child works waits for it", async () => {
    const shown = await show("claude-code-hooks", [
      START,
      hook("UserPromptSubmit"),
      hook("SubagentStart", A1),
      hook("Stop", { background_tasks: [{ id: "A1", type: "subagent", status: "running" }] }),
    ]);
    expect(await shown.child("root")).toMatchObject({
      state: "waiting",
      facts: { waitingOn: { kind: "child", childId: "A1" } },
    });
  });

  test("L16: a call that never returned is created, and cancelled when it is aborted", async () => {
    const call = toolHook("PreToolUse", "Agent", "U1");
    const open = await show("claude-code-hooks", [START, call]);
    expect(await open.child("U1")).toMatchObject({ state: "created" });
    const aborted = await showIn(open.collector, "aborted", "claude-code-hooks", [
      START,
      call,
      toolHook("PostToolUseFailure", "Agent", "U1", { is_interrupt: true }),
    ]);
    expect(await aborted.child("U1")).toMatchObject({ state: "cancelled", facts: { cause: "user_abort" } });
  });

  test("L19: a child waits until the tool that it asked for has run", async () => {
    const asks = [
      START,
      hook("SubagentStart", A1),
      toolHook("PreToolUse", "Bash", "t1", A1),
      hook("Notification", { ...A1, notification_type: "agent_needs_input" }),
    ];
    const waiting = await show("claude-code-hooks", [...asks, toolHook("PostToolUse", "Read", "t2", A1)]);
    expect(await waiting.child("A1")).toMatchObject({ state: "waiting", facts: { waitingOn: { kind: "user" } } });
    expect(await waiting.diagnosticsOf("A1")).toEqual(["activity_while_waiting"]);
    const answered = await showIn(waiting.collector, "answered", "claude-code-hooks", [
      ...asks,
      toolHook("PostToolUse", "Bash", "t1", A1),
    ]);
    expect(await answered.child("A1")).toMatchObject({ state: "running" });
  });
});

describe("what the board shows of streams", () => {
  const line = (subtype: string, members: object = {}): object => ({
    type: "system",
    subtype,
    session_id: "s",
    ...members,
  });
  const started = (tool_use_id: string): object => line("task_started", { task_id: "T1", tool_use_id });

  test("L04: a task that works after its end stays completed, and is said to be contradicted", async () => {
    const works = {
      type: "assistant",
      session_id: "s",
      parent_tool_use_id: "U1",
      message: { content: [{ type: "tool_use", name: "Bash" }] },
    };
    const shown = await show("claude-stream-json", [
      line("init"),
      started("U1"),
      line("task_notification", { task_id: "T1", status: "completed" }),
      works,
      works,
      line("task_updated", { task_id: "T1", patch: { status: "killed" } }),
    ]);
    expect(await shown.child("T1")).toMatchObject({
      state: "completed",
      lateEvidence: { count: 3, lastState: "cancelled" },
    });
    expect(await shown.ids()).toEqual(["T1", "s"]);
  });

  test("L06: a resume after a failure is another attempt beside it", async () => {
    const shown = await show("claude-stream-json", [
      line("init"),
      started("U1"),
      line("task_notification", { task_id: "T1", status: "failed" }),
      started("U1"),
      started("U2"),
      line("task_notification", { task_id: "T1", status: "completed" }),
    ]);
    expect(await shown.ids()).toEqual(["T1", "T1#1", "s"]);
    expect(await shown.child("T1")).toMatchObject({ state: "failed", lateEvidence: null });
    expect(await shown.child("T1#1")).toMatchObject({ state: "completed", lineage: { rootChildId: "s", attempt: 1 } });
  });

  test("L21: a transient error of a task shows at the task, and the root is as it was", async () => {
    const event = (type: string, properties: object): object => ({ type, properties });
    const status = (sessionID: string, members: object): object =>
      event("session.status", { sessionID, status: members });
    const shown = await show("opencode", [
      event("session.created", { info: { id: "root" } }),
      event("session.created", { info: { id: "task", parentID: "root" } }),
      status("root", { type: "busy" }),
      status("task", { type: "busy" }),
      event("session.error", { sessionID: "task", error: { name: "APIError" } }),
      status("task", { type: "retry", attempt: 1 }),
    ]);
    expect(await shown.child("task")).toMatchObject({
      state: "waiting",
      facts: { waitingOn: { kind: "provider_retry" } },
    });
    expect(await shown.child("root")).toMatchObject({ state: "running" });
  });

  test("L23: an unknown word changes no state and stops nobody else's", async () => {
    const update = (taskId: string, state: string): object => ({ taskId, status: { state } });
    const shown = await show("a2a", [
      update("t", "working"),
      update("u", "working"),
      update("t", "banana"),
      update("u", "completed"),
    ]);
    expect(await shown.child("t")).toMatchObject({ state: "running" });
    expect(await shown.child("u")).toMatchObject({ state: "completed" });
    expect(await shown.diagnosticsOf("t")).toEqual(["unsupported_status"]);
  });

  test("L32c, L32d: the end of a trace ends no agent, and an end without an error is no success that was verified", async () => {
    const span = (type: string, id: string): object => ({
      type,
      data: { id, trace_id: "tr", span_data: { type: "agent", name: id } },
    });
    const shown = await show("openai-agents", [
      { type: "trace.start", data: { id: "tr", workflow_name: "w" } },
      span("span.start", "works on"),
      span("span.start", "ended"),
      { type: "trace.end", data: { id: "tr" } },
      span("span.end", "ended"),
    ]);
    expect(await shown.child("works on")).toMatchObject({ state: "running", lineage: { rootChildId: "tr" } });
    expect(await shown.child("ended")).toMatchObject({
      state: "completed",
      stateInferred: true,
      facts: { cause: "outcome_unverified" },
      capabilities: { terminalCause: "unknown" },
    });
  });
});
