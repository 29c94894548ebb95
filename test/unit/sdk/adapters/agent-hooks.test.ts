import { adapterFor } from "@agent-lifecycle/sdk/adapters";
import { describe, expect, test } from "vitest";
import { AdapterRun, secondsAfterStart } from "../../../kit/adapter-run.ts";
import { hook, toolHook } from "../../../kit/agent-hooks.ts";

function run(format = "claude-code-hooks"): AdapterRun {
  const adapter = adapterFor(format);
  if (adapter === undefined) throw new Error(`no adapter for ${format}`);
  return new AdapterRun(adapter);
}

const START = hook("SessionStart", { source: "startup", model: "some-model" });
const agentStart = (agent_id: string, agent_type = "reviewer"): object =>
  hook("SubagentStart", { agent_id, agent_type });
const agentStop = (agent_id: string, agent_type = "reviewer"): object => hook("SubagentStop", { agent_id, agent_type });

describe("a session, seen through its hooks", () => {
  test("starts, works for its user, waits for it, and ends for a named reason", () => {
    const hooks = run()
      .at(0, START)
      .at(1, hook("UserPromptSubmit", { prompt: "secret plans" }));
    hooks.at(2, hook("Stop", { background_tasks: [] })).at(3, hook("SessionEnd", { reason: "logout" }));
    expect(hooks.states("root")).toEqual(["created?", "starting", "running", "waiting", "completed"]);
    expect(hooks.last("root")).toMatchObject({
      details: { cause: "logout" },
      capabilities: { terminalCause: "known" },
    });
    expect(JSON.stringify(hooks.events)).not.toContain("secret plans");
  });

  test("is adopted when its start was not seen, and nothing is claimed of its past", () => {
    const hooks = run().at(5, toolHook("PreToolUse", "Bash", "t1"));
    expect(hooks.of("root")[0]).toMatchObject({
      kind: "state_changed",
      state: "running",
      lineage: { external: true, adoptedAt: secondsAfterStart(5) },
    });
  });

  test("that ended and is resumed is another attempt of the same root", () => {
    const hooks = run()
      .at(0, START)
      .at(1, hook("SessionEnd", { reason: "other" }));
    hooks.at(2, hook("SessionStart", { source: "resume" })).at(3, hook("UserPromptSubmit"));
    expect(hooks.states("root")).toEqual(["created?", "starting", "running?", "completed"]);
    expect(hooks.states("root#1")).toEqual(["created?", "starting", "running"]);
    expect(hooks.last("root#1")?.lineage).toMatchObject({ rootChildId: "root", attempt: 1 });
  });

  test("that is resumed without having ended goes on in a new epoch", () => {
    const hooks = run()
      .at(0, START)
      .at(1, hook("SessionStart", { source: "resume" }))
      .at(2, hook("UserPromptSubmit"));
    expect(hooks.of("root").map(({ sourceEpoch, sequence }) => [sourceEpoch, sequence])).toEqual([
      ["run", 0],
      ["run", 1],
      ["run/1", 0],
      ["run/1", 1],
    ]);
  });

  test("whose turn failed waits for its user: that is no failure of the session", () => {
    const hooks = run().at(0, START, hook("UserPromptSubmit"), hook("StopFailure"));
    expect(hooks.states("root").at(-1)).toBe("waiting");
    expect(hooks.codes()).toEqual(["error_reported"]);
  });

  test("does not take to-do items for agents", () => {
    const hooks = run().at(0, START, hook("TaskCreated", { task_id: "t" }), hook("TaskCompleted", { task_id: "t" }));
    expect(hooks.children()).toEqual(["root"]);
  });

  test("L11: a turn that ends while a child works waits for the child, and never ends the session", () => {
    const hooks = run().at(
      0,
      START,
      hook("UserPromptSubmit"),
      agentStart("B1"),
      toolHook("PreToolUse", "Bash", "t", { agent_id: "B1" }),
    );
    hooks.at(50, hook("Stop", { background_tasks: [{ id: "B1", type: "subagent", status: "running" }] }));
    expect(hooks.last("root")).toMatchObject({
      state: "waiting",
      details: { waitingOn: { kind: "child", childId: "B1" } },
    });
    hooks
      .at(300, agentStop("B1"))
      .at(305, hook("UserPromptSubmit"))
      .at(330, hook("Stop", { background_tasks: [] }));
    expect(hooks.last("root")).toMatchObject({ state: "waiting", details: { waitingOn: { kind: "user" } } });
    expect(hooks.states("root")).toEqual(["created?", "starting", "running", "waiting", "running", "waiting"]);
    expect(hooks.states("B1").at(-1)).toBe("completed?");
  });

  test("says of children that it does not list that somebody should ask, and ends none of them", () => {
    const hooks = run()
      .at(0, START, agentStart("A1"))
      .at(40, hook("Stop", { background_tasks: [] }));
    expect(hooks.last("A1")).toMatchObject({
      kind: "reconciliation",
      details: { reason: "not_among_background_tasks" },
    });
    hooks.at(50, hook("SessionEnd", { reason: "clear" }));
    expect(hooks.states("A1")).toEqual(["created?", "starting"]);
  });
});

describe("a subagent, seen through hooks", () => {
  test("starts, works from its first tool on, and ends without an outcome", () => {
    const hooks = run().at(0, START, agentStart("A1"));
    hooks
      .at(5, toolHook("PreToolUse", "Read", "t1", { agent_id: "A1" }))
      .at(6, toolHook("PostToolUseFailure", "Read", "t1", { agent_id: "A1" }));
    hooks.at(
      60,
      hook("SubagentStop", { agent_id: "A1", agent_type: "reviewer", agent_transcript_path: "/t/A1.jsonl" }),
    );
    expect(hooks.states("A1")).toEqual(["created?", "starting", "running", "completed?"]);
    expect(hooks.last("A1")).toMatchObject({
      details: { cause: "outcome_unverified", transcriptRef: "/t/A1.jsonl" },
      capabilities: { terminalCause: "unknown" },
      lineage: { parentChildId: "root", rootChildId: "root" },
    });
  });

  test("is created by the call that asks for it, and joined to its own id when it starts", () => {
    const hooks = run().at(
      0,
      START,
      toolHook("PreToolUse", "Agent", "U1", { tool_input: { subagent_type: "reviewer", prompt: "x" } }),
    );
    expect(hooks.states("U1")).toEqual(["created"]);
    hooks.at(1, agentStart("A1"), toolHook("PreToolUse", "Read", "t", { agent_id: "A1" }), agentStop("A1"));
    hooks.at(2, toolHook("PostToolUse", "Agent", "U1", { tool_response: { status: "completed", agentId: "A1" } }));
    expect(hooks.children()).toEqual(["root", "U1"]);
    expect(hooks.states("U1")).toEqual(["created", "starting", "running", "completed?"]);
  });

  test("whose call says that it is done is done, with what is missing marked as inferred", () => {
    const hooks = run().at(0, START, toolHook("PreToolUse", "Agent", "U1"), agentStart("A1", ""));
    hooks.at(1, toolHook("PostToolUse", "Agent", "U1", { tool_response: { status: "completed", agentId: "U1" } }));
    expect(hooks.states("U1")).toEqual(["created", "starting", "running?", "completed"]);
  });

  test("a call that only launched it does not end it", () => {
    const hooks = run().at(0, START, toolHook("PreToolUse", "Agent", "U1"));
    hooks.at(1, toolHook("PostToolUse", "Agent", "U1", { tool_response: { status: "async_launched", agentId: "A1" } }));
    expect(hooks.states("U1")).toEqual(["created"]);
  });

  test("L16: a call that never returns stays created, and is cancelled when its user aborts it", () => {
    const hooks = run().at(0, START, toolHook("PreToolUse", "Agent", "U1"));
    hooks.at(18_901, toolHook("PostToolUseFailure", "Agent", "U1", { is_interrupt: true, error: "aborted" }));
    expect(hooks.states("U1")).toEqual(["created", "cancelled"]);
    expect(hooks.last("U1")?.details).toMatchObject({ cause: "user_abort" });
  });

  test("L01: an end with an id that never began ends nobody and creates nobody", () => {
    const hooks = run()
      .at(0, START, agentStart("A1"))
      .at(5, toolHook("PreToolUse", "Read", "t1", { agent_id: "A1" }));
    hooks.at(40, hook("Stop", { background_tasks: [] })).at(44, agentStop("Z9", ""));
    expect(hooks.children()).toEqual(["root", "A1"]);
    expect(hooks.states("A1")).toEqual(["created?", "starting", "running"]);
    expect(hooks.last("root")).toMatchObject({ kind: "diagnostic", details: { code: "unmatched_terminal" } });
  });

  test("L02: activity under an id that never began refreshes nobody, and is replayed in order if it begins", () => {
    const hooks = run().at(0, START, agentStart("A1"));
    for (let at = 10; at <= 30; at += 10) {
      hooks.at(
        at,
        toolHook("PreToolUse", "Read", `t${at}`, { agent_id: "S7" }),
        toolHook("PostToolUse", "Read", `t${at}`, { agent_id: "S7" }),
      );
    }
    expect(hooks.codes()).toEqual(Array(6).fill("activity_for_unknown_child"));
    expect(hooks.last("root")?.details).toMatchObject({ count: 6 });
    expect(hooks.of("A1")).toHaveLength(2);
    hooks.at(60, agentStop("A1"));
    expect(hooks.children()).toEqual(["root", "A1"]);
    hooks.restarted().at(70, agentStart("S7"));
    expect(hooks.states("S7")).toEqual(["created?", "starting", "running"]);
    const activities = hooks.of("S7").filter(({ kind }) => kind === "activity");
    expect(activities.map(({ observedAt }) => observedAt)).toEqual([10, 10, 20, 20, 30, 30].map(secondsAfterStart));
    expect(hooks.state.quarantined.size).toBe(0);
  });

  test("that ended and starts again is another attempt, never a revival", () => {
    const hooks = run().at(0, START, agentStart("A1"), agentStop("A1"), agentStart("A1"));
    expect(hooks.states("A1").at(-1)).toBe("completed?");
    expect(hooks.states("A1#1")).toEqual(["created?", "starting"]);
    expect(hooks.last("A1#1")?.lineage).toMatchObject({ attempt: 1, rootChildId: "root", parentChildId: "root" });
  });

  test("Codex says the same words", () => {
    const hooks = run("codex-hooks").at(0, START, agentStart("thread-2"), agentStop("thread-2"));
    expect(hooks.states("thread-2")).toEqual(["created?", "starting", "running?", "completed?"]);
  });
});

describe("waiting, seen through hooks", () => {
  const works = (): AdapterRun =>
    run().at(0, START, agentStart("A1"), toolHook("PreToolUse", "Bash", "t1", { agent_id: "A1" }));

  test("L19: ends with the tool that was asked for", () => {
    const hooks = works().at(
      10,
      hook("Notification", { agent_id: "A1", notification_type: "agent_needs_input", message: "secret" }),
    );
    hooks.at(23, toolHook("PostToolUse", "Bash", "t1", { agent_id: "A1" }));
    expect(hooks.states("A1").slice(-2)).toEqual(["waiting", "running"]);
    expect(hooks.codes()).toEqual([]);
  });

  test("L19: goes on without such a proof, whatever else is done meanwhile", () => {
    const hooks = works().at(10, hook("PermissionRequest", { agent_id: "A1", tool_name: "Bash", tool_use_id: "t1" }));
    for (let at = 25; at <= 300; at += 25) hooks.at(at, toolHook("PostToolUse", "Read", `r${at}`, { agent_id: "A1" }));
    expect(hooks.states("A1").at(-1)).toBe("waiting");
    expect(new Set(hooks.codes())).toEqual(new Set(["activity_while_waiting"]));
  });

  test("follows from no notification that says something else", () => {
    const hooks = works().at(10, hook("Notification", { notification_type: "agent_completed" }));
    expect(hooks.last("root")).toMatchObject({ kind: "reconciliation", details: { reason: "agent_completed" } });
    hooks.at(11, hook("Notification", { notification_type: "banana" }));
    expect(hooks.codes()).toEqual(["unsupported_status"]);
    expect(hooks.states("root")).toEqual(["created?", "starting"]);
  });
});

test("an unknown hook is a diagnostic and a hint, and those after it are read", () => {
  const hooks = run().at(0, START, hook("BrandNewHook"), hook("UserPromptSubmit"));
  expect(hooks.codes()).toEqual(["unsupported_event"]);
  expect(hooks.of("root").map(({ kind }) => kind)).toContain("reconciliation");
  expect(hooks.states("root").at(-1)).toBe("running");
});

test("records of hooks that ran at the same time are put into the order of their starts", () => {
  const adapter = adapterFor("claude-code-hooks");
  const record = (order: string): object => ({ receivedAt: secondsAfterStart(0), order, payload: {} });
  expect(adapter?.inOrder?.([record("20"), record("9"), record("10")])).toEqual([
    record("9"),
    record("10"),
    record("20"),
  ]);
  expect(adapter?.inOrder?.([record("2"), { bare: true }, record("1")])).toEqual([
    record("2"),
    { bare: true },
    record("1"),
  ]);
});
