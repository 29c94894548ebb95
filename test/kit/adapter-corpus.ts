import { hook, toolHook } from "./agent-hooks.ts";

/** Inputs of one format that go together: any order of them, with any of them twice, is something an adapter may meet. */
export interface AdapterCorpus {
  readonly format: string;
  /** Nobody ends by any of these. */
  readonly goingOn: readonly unknown[];
  readonly ends: readonly unknown[];
}

const HOOKS: Omit<AdapterCorpus, "format"> = {
  goingOn: [
    hook("SessionStart", { source: "startup" }),
    hook("SessionStart", { source: "resume" }),
    hook("UserPromptSubmit", { prompt: "x" }),
    toolHook("PreToolUse", "Agent", "U1", { tool_input: { subagent_type: "reviewer" } }),
    toolHook("PostToolUse", "Agent", "U1", { tool_response: { agentId: "A1", status: "async_launched" } }),
    hook("SubagentStart", { agent_id: "A1", agent_type: "reviewer" }),
    hook("SubagentStart", { agent_id: "A2", agent_type: "coder" }),
    toolHook("PreToolUse", "Bash", "t1", { agent_id: "A1" }),
    toolHook("PostToolUse", "Bash", "t1", { agent_id: "A1" }),
    toolHook("PostToolUseFailure", "Bash", "t1", { agent_id: "A3" }),
    hook("PermissionRequest", { tool_name: "Bash", tool_use_id: "t1", agent_id: "A1" }),
    hook("Notification", { notification_type: "idle_prompt" }),
    hook("Notification", { notification_type: "agent_completed", agent_id: "A1" }),
    hook("Stop", { background_tasks: [{ id: "A1", type: "subagent", status: "running" }] }),
    hook("StopFailure"),
    hook("TeammateIdle", { teammate_name: "tester", team_name: "team" }),
    hook("Unheard"),
  ],
  ends: [
    toolHook("PostToolUseFailure", "Agent", "U1", { is_interrupt: true }),
    toolHook("PostToolUse", "Agent", "U1", { tool_response: { agentId: "A1", status: "completed" } }),
    hook("SubagentStop", { agent_id: "A1", agent_type: "reviewer" }),
    hook("SubagentStop", { agent_id: "Z9", agent_type: "" }),
    hook("SessionEnd", { reason: "clear" }),
  ],
};

const claude = (type: string, subtype: string, members: object = {}): object => ({
  type,
  subtype,
  session_id: "s",
  ...members,
});
const codexItem = (members: object): object => ({
  type: "item.completed",
  item: { id: "i", type: "collab_tool_call", tool: "wait", ...members },
});
const openCode = (type: string, properties: object = {}): object => ({ type, properties });
const a2a = (taskId: string, state: string, contextId = "c"): object => ({ taskId, contextId, status: { state } });
const mcp = (taskId: string, status: string, members: object = {}): object => ({ taskId, status, ...members });
const span = (type: string, id: string, members: object = {}): object => ({
  type: `span.${type}`,
  data: { id, trace_id: "t", span_data: { type: "agent", name: "A" }, ...members },
});

export const ADAPTER_CORPORA: readonly AdapterCorpus[] = [
  { format: "claude-code-hooks", ...HOOKS },
  { format: "codex-hooks", ...HOOKS },
  {
    format: "claude-stream-json",
    goingOn: [
      claude("system", "init"),
      claude("system", "task_started", { task_id: "T1", tool_use_id: "U1" }),
      claude("system", "task_started", { task_id: "T1", tool_use_id: "U2" }),
      claude("system", "task_started", { task_id: "T2", tool_use_id: "U3", task_type: "local_bash" }),
      claude("system", "task_progress", { task_id: "T1", usage: { tool_uses: 3 } }),
      claude("system", "task_updated", { task_id: "T1", patch: { status: "running" } }),
      claude("system", "background_tasks_changed", { tasks: [{ task_id: "T2" }] }),
      claude("system", "api_retry"),
      claude("assistant", "", { parent_tool_use_id: "U1", message: { content: [{ type: "tool_use", name: "Bash" }] } }),
      claude("assistant", "", { message: { content: [] } }),
      claude("system", "task_notification", { task_id: "T2", status: "banana" }),
    ],
    ends: [
      claude("system", "task_notification", { task_id: "T1", tool_use_id: "U1", status: "failed" }),
      claude("system", "task_updated", { task_id: "T2", patch: { status: "killed" } }),
      claude("result", "success"),
      claude("result", "error_max_turns"),
    ],
  },
  {
    format: "codex-exec",
    goingOn: [
      { type: "thread.started", thread_id: "m" },
      { type: "turn.started" },
      codexItem({ tool: "spawn_agent", receiver_thread_ids: ["x"], agents_states: { x: { status: "pending_init" } } }),
      codexItem({ agents_states: { x: { status: "running" }, y: { status: "not_found" } } }),
      { type: "item.updated", item: { id: "j", type: "reasoning" } },
      { type: "turn.completed", usage: { input_tokens: 1 } },
      { type: "error", message: "e" },
    ],
    ends: [
      codexItem({ agents_states: { x: { status: "completed" } } }),
      codexItem({ agents_states: { x: { status: "shutdown" }, z: { status: "errored" } } }),
      { type: "turn.failed", error: { message: "e" } },
    ],
  },
  {
    format: "opencode",
    goingOn: [
      openCode("server.connected"),
      openCode("session.created", { info: { id: "r" } }),
      openCode("session.created", { info: { id: "k", parentID: "r" } }),
      openCode("session.status", { sessionID: "k", status: { type: "busy" } }),
      openCode("session.status", { sessionID: "k", status: { type: "retry", attempt: 1 } }),
      openCode("session.status", { sessionID: "r", status: { type: "idle" } }),
      openCode("session.error", { sessionID: "k", error: { name: "APIError" } }),
      openCode("permission.asked", { sessionID: "k" }),
      openCode("permission.replied", { sessionID: "k" }),
      openCode("message.part.updated", { part: { sessionID: "k", type: "tool", tool: "bash" } }),
    ],
    ends: [
      openCode("session.idle", { sessionID: "k" }),
      openCode("session.deleted", { info: { id: "r" } }),
      openCode("session.error", { sessionID: "k", error: { name: "MessageAbortedError" } }),
    ],
  },
  {
    format: "a2a",
    goingOn: [
      a2a("t", "submitted"),
      a2a("t", "working"),
      a2a("u", "input-required"),
      a2a("t", "banana"),
      { taskId: "t", artifact: {} },
    ],
    ends: [a2a("t", "completed"), a2a("u", "TASK_STATE_REJECTED"), a2a("v", "canceled", "d"), a2a("t", "failed")],
  },
  {
    format: "mcp-tasks",
    goingOn: [
      mcp("t", "working"),
      mcp("t", "input_required"),
      mcp("u", "banana"),
      { error: { message: "unknown task" } },
    ],
    ends: [mcp("t", "completed"), mcp("t", "failed"), mcp("u", "completed", { result: { isError: true } })],
  },
  {
    format: "openai-agents",
    goingOn: [
      { type: "trace.start", data: { id: "t", workflow_name: "w" } },
      span("start", "a"),
      span("start", "f", { parent_id: "a", span_data: { type: "function", name: "search" } }),
      span("start", "b", { parent_id: "f" }),
      span("end", "f", { span_data: { type: "function", name: "search" } }),
    ],
    ends: [{ type: "trace.end", data: { id: "t" } }, span("end", "a"), span("end", "b", { error: { message: "e" } })],
  },
  {
    format: "process",
    goingOn: [
      { type: "spawn", id: "p", pid: 1 },
      { type: "output", id: "p" },
      { type: "heartbeat", id: "p" },
    ],
    ends: [
      { type: "spawn_error", id: "q" },
      { type: "exit", id: "p", exitCode: 0 },
      { type: "exit", id: "q", signal: "SIGKILL" },
    ],
  },
];
