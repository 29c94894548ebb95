import { isTerminal } from "@agent-lifecycle/proto";
import type { TrackedChild } from "./adapter-state.ts";
import type { HookCall } from "./hook-call.ts";
import { sessionOf } from "./hook-session.ts";
import { flagIn, identifierIn, objectIn, stated, wordIn } from "./json-fields.ts";
import type { Observation } from "./observation.ts";

/** Tools that start an agent. */
const SPAWNING_TOOLS: ReadonlySet<string> = new Set(["Agent", "Task"]);
const MAX_OPEN_TOOLS = 32;

const WAITING_BY_NOTIFICATION: ReadonlyMap<string, string> = new Map([
  ["permission_prompt", "permission"],
  ["idle_prompt", "user"],
  ["agent_needs_input", "user"],
  ["elicitation_dialog", "user"],
]);
/** They tell people something and claim no state. */
const NOTIFICATIONS_WITHOUT_STATE: ReadonlySet<string> = new Set([
  "auth_success",
  "elicitation_complete",
  "elicitation_response",
]);

/** Hooks about tools, permissions and notifications. @returns whether it was one. */
export function toolHook(observation: Observation, call: HookCall): boolean {
  switch (call.event) {
    case "PreToolUse":
    case "PostToolUse":
    case "PostToolUseFailure": {
      const doer = doerOf(observation, call);
      if (doer !== undefined) toolUse(observation, call, doer);
      return true;
    }
    case "PermissionRequest": {
      const doer = doerOf(observation, call);
      if (doer !== undefined) waitFor(observation, call, doer, "permission");
      return true;
    }
    case "PermissionDenied": {
      const doer = doerOf(observation, call);
      if (doer !== undefined) observation.activity(doer.key, `permission denied: ${call.toolName ?? "a tool"}`);
      return true;
    }
    case "Notification":
      notification(observation, call);
      return true;
    default:
      return false;
  }
}

/** The agent, if the hook ran in one, else the session. An agent that nobody has seen start is no one yet. */
function doerOf(observation: Observation, call: HookCall): TrackedChild | undefined {
  const session = sessionOf(observation, call);
  if (call.agentId === undefined) return session;
  const agent = observation.find(call.agentId);
  if (agent === undefined) observation.quarantine(call.agentId, call.input, session.key);
  return agent;
}

function toolUse(observation: Observation, call: HookCall, doer: TrackedChild): void {
  const begins = call.event === "PreToolUse";
  const tool = call.toolName ?? "tool";
  if (!isTerminal(doer.state)) {
    if (doer.state === "created" || doer.state === "starting") observation.reach(doer.key, "running", { tool });
    else if (doer.state === "waiting") leaveWaiting(observation, call, doer);
  }
  observation.activity(doer.key, begins ? tool : `${tool} ${call.event === "PostToolUse" ? "done" : "failed"}`, {
    tool,
  });
  trackOpenTools(observation, call, doer, begins);
  if (SPAWNING_TOOLS.has(tool)) spawning(observation, call, doer, begins);
}

/** Only the tool that was asked about proves that the answer has come. */
function leaveWaiting(observation: Observation, call: HookCall, doer: TrackedChild): void {
  const asked = listOf(doer.notes.askedFor);
  const isAnswer =
    call.event !== "PreToolUse" &&
    [call.toolUseId, call.toolName].some((name) => name !== undefined && asked.includes(name));
  if (isAnswer) observation.reach(doer.key, "running", stated({ tool: call.toolName }));
  else if (doer.key !== call.sessionId || call.agentId !== undefined || asked.length > 0) {
    observation.diagnose("activity_while_waiting", `${call.event} of ${call.toolName ?? "a tool"}`, doer.key);
  } else if (call.event === "PreToolUse") {
    // A session whose turn had ended uses a tool: a turn has begun, whoever asked for it.
    observation.reach(doer.key, "running", { inferred: true });
  }
}

function waitFor(observation: Observation, call: HookCall, doer: TrackedChild, kind: string): void {
  if (isTerminal(doer.state)) return;
  const askedFor = [call.toolUseId ?? call.toolName].filter((name) => name !== undefined);
  observation.noteOn(doer.key, { askedFor: askedFor.length > 0 ? askedFor : listOf(doer.notes.openTools) });
  observation.reach(doer.key, "waiting", {
    waitingOn: stated({ kind, text: call.toolName }),
    ...stated({ tool: call.toolName }),
  });
}

function notification(observation: Observation, call: HookCall): void {
  const doer = doerOf(observation, call);
  if (doer === undefined) return;
  const type = wordIn(call.payload, "notification_type");
  const kind = WAITING_BY_NOTIFICATION.get(type ?? "");
  if (kind !== undefined) waitFor(observation, call, doer, kind);
  else if (type === "agent_completed") observation.hintReconciliation(doer.key, "agent_completed");
  else if (type !== undefined && !NOTIFICATIONS_WITHOUT_STATE.has(type)) {
    observation.diagnose("unsupported_status", `notification_type ${type}`, doer.key);
    observation.hintReconciliation(doer.key, "unsupported_status");
  }
}

function trackOpenTools(observation: Observation, call: HookCall, doer: TrackedChild, begins: boolean): void {
  const name = call.toolUseId ?? call.toolName;
  if (name === undefined) return;
  const others = listOf(observation.find(doer.key)?.notes.openTools).filter((open) => open !== name);
  observation.noteOn(doer.key, { openTools: begins ? [...others, name].slice(-MAX_OPEN_TOOLS) : others });
}

/** A call that asks for an agent: the child is there before it has a name of its own. */
function spawning(observation: Observation, call: HookCall, doer: TrackedChild, begins: boolean): void {
  const { toolUseId } = call;
  if (toolUseId === undefined) return;
  const agentType = wordIn(objectIn(call.payload, "tool_input"), "subagent_type");
  if (begins) {
    observation.begin(toolUseId, {
      parentKey: doer.key,
      details: stated({ agentType, name: agentType }),
      notes: { session: call.sessionId, spawn: true, ...stated({ agentType }) } as TrackedChild["notes"],
    });
    return;
  }
  const answer = objectIn(call.payload, "tool_response");
  const agentId = identifierIn(answer, "agentId", "agent_id");
  const child = joined(observation, toolUseId, agentId);
  if (child === undefined || isTerminal(child.state)) return;
  if (call.event === "PostToolUseFailure") spawnFailed(observation, call, child);
  else if (wordIn(answer, "status") === "completed") observation.reach(child.key, "completed", {});
}

/** The child of a call, once the call's answer names the agent. */
function joined(observation: Observation, toolUseId: string, agentId: string | undefined): TrackedChild | undefined {
  const spawned = observation.find(toolUseId);
  if (agentId === undefined) return spawned;
  const agent = observation.find(agentId);
  if (agent === undefined) {
    if (spawned !== undefined) observation.alias(agentId, spawned.key);
    return spawned;
  }
  if (spawned !== undefined && agent.key !== spawned.key) {
    observation.diagnose("lineage_contradicted", `${toolUseId} is the call of ${agentId}`, agent.key);
  }
  return agent;
}

function spawnFailed(observation: Observation, call: HookCall, child: TrackedChild): void {
  if (flagIn(call.payload, "is_interrupt") === true) {
    observation.know(child.key, { terminalCause: "known" });
    observation.reach(child.key, "cancelled", { cause: "user_abort" });
  } else if (child.state === "created") observation.reach(child.key, "failed", { cause: "spawn_failed" });
  // That a tool failed is not that the agent did.
  else observation.hintReconciliation(child.key, "spawning_tool_failed");
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}
