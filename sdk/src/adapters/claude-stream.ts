import { isTerminal } from "@agent-lifecycle/proto";
import type { Adapter, AdapterResult, StreamEnd } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState } from "./adapter-state.ts";
import { claudeTaskLine } from "./claude-stream-tasks.ts";
import {
  amountIn,
  countIn,
  type Fields,
  fieldsOf,
  flagIn,
  identifierIn,
  listIn,
  objectIn,
  stated,
  wordIn,
} from "./json-fields.ts";
import { Observation } from "./observation.ts";
import { releasing } from "./replay.ts";

/** Lines that say nothing about anybody's state. */
const WITHOUT_MEANING: ReadonlySet<string> = new Set([
  "stream_event",
  "compact_boundary",
  "files_persisted",
  "hook_started",
  "hook_progress",
  "hook_response",
  "keep_alive",
  "rate_limit_event",
  "prompt_suggestion",
  "tool_progress",
  "tool_use_summary",
  "auth_status",
]);

/**
 * `claude --output-format stream-json`: one session as the root, its background tasks as children. Made for one prompt
 * (`-p`): the result is the session's end, once its tasks have ended.
 */
export const claudeStreamJson: Adapter = {
  format: "claude-stream-json",
  defaultSource: "claude-code",
  map: releasing(mapLine),
  end: endStream,
};

function mapLine(state: AdapterState, input: AdapterInput): AdapterResult {
  const observation = new Observation(state, input.observedAtMs);
  const line = fieldsOf(input.value);
  const type = wordIn(line, "type");
  const sessionId = identifierIn(line, "session_id") ?? wordOf(state.notes.sessionId);
  if (type === undefined || sessionId === undefined) {
    observation.diagnose("invalid_input", `a line has ${type === undefined ? "type" : "session_id"}`);
    return observation.finish();
  }
  observation.note({ sessionId });
  if (observation.find(sessionId) === undefined) beginSession(observation, sessionId, type, line);
  if (type === "system") systemLine(observation, line, sessionId);
  else if (type === "assistant" || type === "user") message(observation, input, line, sessionId, type);
  else if (type === "result") result(observation, line, sessionId);
  else if (!WITHOUT_MEANING.has(type)) unknownLine(observation, type, sessionId);
  endWhenDrained(observation, sessionId);
  return observation.finish();
}

function beginSession(observation: Observation, sessionId: string, type: string, line: Fields): void {
  const isInit = type === "system" && wordIn(line, "subtype") === "init";
  observation.begin(sessionId, {
    adopted: !isInit,
    state: "running",
    capabilities: { terminalCause: "known" },
    details: stated({ name: "session", model: wordIn(line, "model") }),
  });
}

function systemLine(observation: Observation, line: Fields, sessionId: string): void {
  const subtype = wordIn(line, "subtype") ?? "";
  if (subtype === "init") {
    if (observation.find(sessionId)?.state === "waiting") observation.reach(sessionId, "running");
    return;
  }
  if (claudeTaskLine(observation, subtype, line, sessionId)) return;
  if (subtype === "permission_denied") {
    observation.activity(identifierIn(line, "agent_id") ?? sessionId, "permission denied");
  } else if (subtype === "api_retry") {
    observation.reach(sessionId, "waiting", { waitingOn: { kind: "provider_retry" } });
    observation.noteOn(sessionId, { retrying: true });
  } else if (subtype === "status") {
    observation.activity(sessionId, wordIn(line, "status") ?? "status");
  } else if (!WITHOUT_MEANING.has(subtype)) unknownLine(observation, `system/${subtype}`, sessionId);
}

function unknownLine(observation: Observation, what: string, sessionId: string): void {
  observation.diagnose("unsupported_event", what, sessionId);
  observation.hintReconciliation(sessionId, "unsupported_event");
}

/** A message proves that whoever wrote it works; what it says is not kept. */
function message(observation: Observation, input: AdapterInput, line: Fields, sessionId: string, type: string): void {
  const parent = identifierIn(line, "parent_tool_use_id");
  const doer = parent === undefined ? sessionId : parent;
  if (observation.find(doer) === undefined) {
    observation.quarantine(doer, input, sessionId);
    return;
  }
  if (observation.find(doer)?.notes.retrying === true && type === "assistant") {
    observation.reach(doer, "running");
    observation.noteOn(doer, { retrying: false });
  }
  const tools = listIn(objectIn(line, "message"), "content").flatMap((part) => {
    const fields = fieldsOf(part);
    return wordIn(fields, "type") === "tool_use" ? (wordIn(fields, "name") ?? []) : [];
  });
  const tool = tools[0];
  if (tool !== undefined) observation.activity(doer, tools.join(", "), { tool });
  else if (type === "assistant") observation.activity(doer, "message");
}

function result(observation: Observation, line: Fields, sessionId: string): void {
  const subtype = wordIn(line, "subtype") ?? "";
  const reason = wordIn(line, "terminal_reason");
  const usage = usageOf(line);
  const isError = flagIn(line, "is_error") === true;
  if (reason?.startsWith("aborted") === true) {
    observation.reach(sessionId, "cancelled", { cause: reason, ...usage });
  } else if (subtype.startsWith("error") || (subtype === "success" && isError)) {
    observation.reach(sessionId, "failed", { cause: subtype === "success" ? "error_result" : subtype, ...usage });
  } else if (subtype === "success") {
    observation.noteOn(sessionId, { resultSeen: true });
    observation.activity(sessionId, "result", usage);
    const child = observation.liveChildren().find(({ key }) => key !== sessionId);
    if (child !== undefined) {
      observation.reach(sessionId, "waiting", { waitingOn: { kind: "child", childId: child.childId } });
    }
  } else {
    observation.diagnose("unsupported_status", `result ${subtype}`, sessionId);
    observation.hintReconciliation(sessionId, "unsupported_status");
  }
}

function endWhenDrained(observation: Observation, sessionId: string): void {
  const session = observation.findLive(sessionId);
  if (session?.notes.resultSeen !== true) return;
  const drained = observation.liveChildren().every(({ key }) => key === sessionId);
  if (drained) observation.reach(sessionId, "completed", { cause: "success" });
}

function usageOf(line: Fields): Record<string, unknown> {
  const usage = objectIn(line, "usage");
  const counted = stated({
    inputTokens: countIn(usage, "input_tokens"),
    outputTokens: countIn(usage, "output_tokens"),
    costUsd: amountIn(line, "total_cost_usd"),
  });
  return Object.keys(counted).length === 0 ? {} : { usage: counted };
}

/** The exit code decides, if there is one. A success that waited for tasks has ended with the process. */
function endStream(state: AdapterState, { observedAtMs, exitCode, signal, requested }: StreamEnd): AdapterResult {
  const observation = new Observation(state, observedAtMs);
  const sessionId = wordOf(state.notes.sessionId);
  const session = sessionId === undefined ? undefined : observation.findLive(sessionId);
  if (session !== undefined) {
    if (signal !== undefined) {
      observation.reach(session.key, requested === true ? "cancelled" : "failed", { cause: "signal", signal });
    } else if (exitCode === undefined) observation.hintReconciliation(session.key, "stream_ended");
    else if (exitCode === 0) observation.reach(session.key, "completed", { exitCode, inferred: true });
    else observation.reach(session.key, "failed", { cause: "exit_code", exitCode });
  }
  for (const { key, state } of observation.liveChildren()) {
    if (key !== sessionId && !isTerminal(state)) observation.hintReconciliation(key, "stream_ended");
  }
  return observation.finish();
}

function wordOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
