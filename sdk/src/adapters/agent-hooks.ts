import type { Adapter, AdapterResult } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState } from "./adapter-state.ts";
import { type HookCall, hookCallOf, inOrderOfStart } from "./hook-call.ts";
import { sessionHook } from "./hook-session.ts";
import { subagentHook } from "./hook-subagents.ts";
import { toolHook } from "./hook-tools.ts";
import { Observation } from "./observation.ts";
import { releasing } from "./replay.ts";

/** Hooks that say nothing about anybody's state. To-do items (`TaskCreated`, `TaskCompleted`) are no agents. */
const WITHOUT_MEANING: ReadonlySet<string> = new Set([
  "TaskCreated",
  "TaskCompleted",
  "WorktreeCreate",
  "WorktreeRemove",
  "PreCompact",
  "PostCompact",
  "ConfigChange",
  "InstructionsLoaded",
  "CwdChanged",
  "FileChanged",
  "Setup",
  "PostToolBatch",
  "UserPromptExpansion",
]);

/** Hooks of an agent that reports sessions, tools and subagents: one process each, without time or order of their own. */
function agentHooks(format: string, defaultSource: string): Adapter {
  return {
    format,
    defaultSource,
    map: releasing(mapHook),
    inOrder: inOrderOfStart,
    end: (state, { observedAtMs }) => new Observation(state, observedAtMs).finish(),
  };
}

function mapHook(state: AdapterState, input: AdapterInput): AdapterResult {
  const call = hookCallOf(input);
  const observation = new Observation(state, call.observedAtMs);
  if (call.event === undefined || call.sessionId === undefined) {
    observation.diagnose("invalid_input", `a hook has ${call.event === undefined ? "hook_event_name" : "session_id"}`);
    return observation.finish();
  }
  const known = { ...call, event: call.event, sessionId: call.sessionId };
  apply(observation, known);
  return observation.finish();
}

function apply(observation: Observation, call: HookCall): void {
  if (WITHOUT_MEANING.has(call.event)) return;
  if (toolHook(observation, call) || sessionHook(observation, call) || subagentHook(observation, call)) return;
  observation.diagnose("unsupported_event", `hook ${call.event}`, call.sessionId);
  observation.hintReconciliation(call.agentId ?? call.sessionId, "unsupported_event");
}

/**
 * Hooks of Claude Code, as the shim spooled them or as they come. A hook says that something happened in a session, never
 * how a subagent fared: an end without an outcome is `completed` with the cause `outcome_unverified`, and inferred.
 */
export const claudeCodeHooks: Adapter = agentHooks("claude-code-hooks", "claude-code");

/** Hooks of Codex: the same words; `agent_id` is the thread of the subagent. */
export const codexHooks: Adapter = agentHooks("codex-hooks", "codex");
