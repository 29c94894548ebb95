import { describe, expect, test } from "vitest";
import { payloadOf, rowOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_20_6 } from "../../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { observe } from "./observation.ts";

const SESSION = "s1";

async function observeSession() {
  const gateway = new GatewayDouble(GATEWAY_0_20_6);
  gateway.openSession(SESSION);
  return { gateway, ...(await observe(gateway)) };
}

describe("what a frame becomes", () => {
  test("a start that nobody announced is a creation, a start-up that is only inferred, and a run", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    await look();
    expect(intake.events.map(({ event, status }) => [event.state, event.details?.inferred, status])).toEqual([
      ["created", true, "applied"],
      ["starting", true, "applied"],
      ["running", undefined, "applied"],
    ]);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", history: "complete" });
  });

  test("a child that was asked for is created and no more, and its start does not create it again", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.spawn_requested", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.spawn_requested", payloadOf("sa-0-a"));
    await look();
    expect(intake.states).toEqual({ "sa-0-a": "created" });
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    await look();
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "starting", "running"]);
    expect(intake.events[0]?.event.details?.inferred).toBeUndefined();
  });

  test("a start after a row has shown the child is a sign of life, and no second run", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.rows = [rowOf("sa-0-a")];
    await look();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    await look();
    expect(intake.events.map(({ event, status }) => [event.kind, event.activity, status])).toEqual([
      ["activity", "started", "applied"],
    ]);
    expect(intake.child("sa-0-a")).toMatchObject({ state: "running", history: "partial", conflicts: 0 });
  });

  test("a tool is an activity with the tool's name; thinking and progress say that the child is active, and not about what", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(
      SESSION,
      "subagent.tool",
      payloadOf("sa-0-a", { tool_name: "terminal", tool_preview: "cat diary", tool_count: 1 }),
    );
    gateway.emit(SESSION, "subagent.thinking", payloadOf("sa-0-a", { text: "they must not know" }));
    gateway.emit(SESSION, "subagent.progress", payloadOf("sa-0-a", { text: "[1] terminal", tool_count: 5 }));
    await look();
    const activities = intake.events.filter(({ event }) => event.kind === "activity").map(({ event }) => event);
    expect(activities.map(({ activity, details }) => [activity, details?.tool, details?.usage?.toolCalls])).toEqual([
      ["terminal", "terminal", 1],
      ["thinking", undefined, 0],
      ["working", undefined, 5],
    ]);
  });

  test.each([
    ["completed", "completed", undefined],
    ["failed", "failed", undefined],
    ["error", "failed", "error"],
    ["timeout", "failed", "timeout"],
    ["stalled", "failed", "stalled"],
    ["budget_exhausted", "failed", "budget_exhausted"],
    ["interrupted", "cancelled", "interrupted"],
    ["cancelled", "cancelled", "cancelled"],
    ["banana", "failed", "banana"],
    [undefined, "failed", "unspecified"],
  ])("complete with status %s ends as %s, cause %s", async (status, state, cause) => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", status === undefined ? {} : { status }));
    await look();
    expect(intake.child("sa-0-a").state).toBe(state);
    expect(intake.child("sa-0-a").facts?.cause).toBe(cause);
    expect(intake.events.at(-1)?.event.details?.["hermes"]).toMatchObject(status === undefined ? {} : { status });
  });

  test("a word that nobody has defined is told, with the word", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "banana" }));
    await look();
    expect(intake.problems).toEqual([
      { code: "unsupported_status", path: "subagent.complete.status", text: "unknown status banana" },
    ]);
  });

  test.each(["running", "queued"])("complete with status %s ends nobody", async (status) => {
    const { gateway, intake, look } = await observeSession();
    gateway.rows = [rowOf("sa-0-a")];
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status }));
    await look();
    expect(intake.child("sa-0-a").state).toBe("running");
  });

  test("a child that never started may be called off, and one that completed must have run", async () => {
    const { gateway, intake, look } = await observeSession();
    for (const [id, status] of [
      ["sa-0-a", "interrupted"],
      ["sa-1-b", "completed"],
    ] as const) {
      gateway.emit(SESSION, "subagent.spawn_requested", payloadOf(id));
      gateway.emit(SESSION, "subagent.complete", payloadOf(id, { status }));
    }
    await look();
    expect(intake.statesReported("sa-0-a")).toEqual(["created", "cancelled"]);
    expect(intake.statesReported("sa-1-b")).toEqual(["created", "starting", "running", "completed"]);
    expect(intake.events.every(({ status }) => status === "applied")).toBe(true);
  });

  test("frames of a worker that was given up come after its end: it stays ended, and they are counted", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "timeout" }));
    for (let call = 1; call <= 3; call += 1) {
      gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-a", { tool_name: "terminal", tool_count: call }));
    }
    await look();
    expect(intake.child("sa-0-a")).toMatchObject({ state: "failed", lateEvidence: { count: 3 } });
  });

  test("a second complete contradicts the first and changes nothing", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "completed" }));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "failed" }));
    await look();
    expect(intake.child("sa-0-a")).toMatchObject({
      state: "completed",
      lateEvidence: { count: 1, lastState: "failed" },
    });
  });

  test("a start after the end does not revive the child", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { status: "failed" }));
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    await look();
    expect(intake.child("sa-0-a")).toMatchObject({ state: "failed", history: "partial", lateEvidence: { count: 1 } });
  });

  test("a tool of a child that nobody knows is kept, and no state is guessed from it", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-a", { tool_name: "terminal" }));
    await look();
    expect(intake.child("sa-0-a")).toMatchObject({ state: undefined, activity: "terminal" });
  });

  test("frames that are not about a child, of other kinds, or of none, cost nothing", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "message.start");
    gateway.emit(SESSION, "subagent.text", payloadOf("sa-0-a", { text: "an answer" }));
    gateway.emit(SESSION, "subagent.start", { goal: "nobody's" });
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-1-b", { depth: "deep", tool_count: -1, model: 7 }));
    await look();
    expect(intake.states).toEqual({ "sa-1-b": "running" });
    expect(intake.problems.map(({ code, text }) => [code, text])).toEqual([
      ["malformed", "subagent.start names no subagent_id"],
    ]);
  });
});

describe("the place in the tree", () => {
  test("a grandchild that only starts and completes keeps its parent, and the parent's end does not end it", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-p"));
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-g", { depth: 1, parent_id: "sa-0-p" }));
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-h", { depth: 2, parent_id: "sa-0-g" }));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-p", { status: "completed" }));
    await look();
    expect(intake.states).toEqual({ "sa-0-g": "running", "sa-0-h": "running", "sa-0-p": "completed" });
    expect(intake.child("sa-0-h").lineage).toEqual({
      rootChildId: "sa-0-p",
      parentChildId: "sa-0-g",
      attempt: 0,
      external: false,
    });
  });

  test("rows tell the ancestors of a child whose frames name only its parent", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.rows = [
      rowOf("sa-0-h", { depth: 2, parent_id: "sa-0-g" }),
      rowOf("sa-0-g", { depth: 1, parent_id: "sa-0-p" }),
      rowOf("sa-0-p"),
    ];
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-h", { depth: 2, parent_id: "sa-0-g" }));
    await look();
    expect(intake.child("sa-0-h").lineage.rootChildId).toBe("sa-0-p");
    expect(intake.states).toEqual({ "sa-0-g": "running", "sa-0-h": "running", "sa-0-p": "running" });
  });

  test("whether a row or a frame shows a child first, its lineage is the same", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.rows = [rowOf("sa-0-g", { depth: 1, parent_id: "sa-0-p" })];
    await look();
    gateway.emit(SESSION, "subagent.tool", payloadOf("sa-0-g", { depth: 1, parent_id: "sa-0-p", tool_name: "web" }));
    await look();
    expect(intake.child("sa-0-g")).toMatchObject({ conflicts: 0, activity: "web", lineage: { rootChildId: "sa-0-p" } });
  });

  test("a child that calls itself its parent has none", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a", { parent_id: "sa-0-a" }));
    await look();
    expect(intake.child("sa-0-a").lineage).toEqual({ rootChildId: "sa-0-a", attempt: 0, external: false });
  });
});

describe("what is told beside the state", () => {
  const END = {
    status: "completed",
    delegation_id: "deleg_1",
    child_session_id: "20260602_185304_1b6d5d",
    input_tokens: 20,
    output_tokens: 10,
    reasoning_tokens: 3,
    api_calls: 2,
    cost_usd: 0.25,
    tool_count: 4,
    duration_seconds: 7.5,
    files_read: ["/home/me/diary.txt"],
    files_written: ["/home/me/a", "/home/me/b"],
    summary: "the summary",
    text: "the answer",
    output_tail: [{ tool: "terminal", preview: "the output", is_error: false }],
  };

  test("tokens, cost, tools and files are kept as numbers, with the delegation and the depth", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", END));
    await look();
    const { details } = intake.events.at(-1)?.event ?? {};
    expect(details?.usage).toEqual({ inputTokens: 20, outputTokens: 10, costUsd: 0.25, toolCalls: 4 });
    expect(details).toMatchObject({ model: "fake-model", agentType: "subagent", routingProfile: "UNPROFILED" });
    expect(details?.["hermes"]).toEqual({
      depth: 0,
      delegationId: "deleg_1",
      sessionId: SESSION,
      childSessionId: "20260602_185304_1b6d5d",
      taskIndex: 0,
      taskCount: 1,
      status: "completed",
      reasoningTokens: 3,
      modelCalls: 2,
      durationSeconds: 7.5,
      filesRead: 1,
      filesWritten: 2,
    });
  });

  test("nothing that the child was told, thought, wrote or answered leaves, but the beginning of its goal", async () => {
    const { gateway, intake, look } = await observeSession();
    const goal = `read my diary with ANTHROPIC_API_KEY=sk-ant-api03-${"x".repeat(90)} and ${"tell me ".repeat(40)}THE END`;
    gateway.rows = [rowOf("sa-0-a", { goal })];
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a", { goal, text: goal }));
    gateway.emit(
      SESSION,
      "subagent.tool",
      payloadOf("sa-0-a", { goal, tool_name: "terminal", tool_preview: "the preview" }),
    );
    gateway.emit(SESSION, "subagent.thinking", payloadOf("sa-0-a", { goal, text: "a thought" }));
    gateway.emit(SESSION, "subagent.complete", payloadOf("sa-0-a", { goal, ...END }));
    await look();
    const all = JSON.stringify([intake.events, intake.snapshots]);
    for (const secret of [
      "diary.txt",
      "sk-ant",
      "THE END",
      "the preview",
      "a thought",
      "the summary",
      "the answer",
      "the output",
    ]) {
      expect(all).not.toContain(secret);
    }
    expect(intake.child("sa-0-a").facts?.name).toMatch(/^read my diary with /);
  });

  test("goals stay where they are when they are not to name anybody", async () => {
    const gateway = new GatewayDouble(GATEWAY_0_20_6);
    gateway.openSession(SESSION);
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a"));
    const { intake } = await observe(gateway, { options: { nameGoals: false } });
    expect(JSON.stringify([intake.events, intake.snapshots])).not.toContain("the goal of");
  });

  test("a routing profile that the gateway names is told", async () => {
    const { gateway, intake, look } = await observeSession();
    gateway.emit(SESSION, "subagent.start", payloadOf("sa-0-a", { routing_profile: "cheap" }));
    await look();
    expect(intake.events[0]?.event.details?.["routingProfile"]).toBe("cheap");
  });
});
