import type { Adapter, AdapterResult, StreamEnd } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState } from "./adapter-state.ts";
import { collabItem } from "./codex-collab.ts";
import { countIn, type Fields, fieldsOf, identifierIn, objectIn, stated, wordIn } from "./json-fields.ts";
import { Observation } from "./observation.ts";

const ITEM_LINES: ReadonlySet<string> = new Set(["item.started", "item.updated", "item.completed"]);
const ITEM_TYPES: ReadonlySet<string> = new Set([
  "agent_message",
  "assistant_message",
  "reasoning",
  "command_execution",
  "file_change",
  "mcp_tool_call",
  "web_search",
  "todo_list",
  "error",
]);

/** `codex exec --json`: one thread as the root, the threads that it spawns as children. */
export const codexExec: Adapter = {
  format: "codex-exec",
  defaultSource: "codex",
  map: mapLine,
  end: endStream,
};

function mapLine(state: AdapterState, input: AdapterInput): AdapterResult {
  const observation = new Observation(state, input.observedAtMs);
  const line = fieldsOf(input.value);
  const type = wordIn(line, "type");
  if (type === undefined) observation.diagnose("invalid_input", "a line has type");
  else if (type === "thread.started") threadStarted(observation, line);
  else threadLine(observation, type, line);
  return observation.finish();
}

function threadStarted(observation: Observation, line: Fields): void {
  const threadId = identifierIn(line, "thread_id");
  if (threadId === undefined) {
    observation.diagnose("invalid_input", "thread.started without thread_id");
    return;
  }
  if (observation.find(threadId) !== undefined) observation.diagnose("duplicate_start", threadId, threadId);
  else observation.begin(threadId, { state: "starting", details: { name: "thread" } });
  observation.note({ threadId });
}

function threadLine(observation: Observation, type: string, line: Fields): void {
  const threadId = threadOf(observation);
  if (threadId === undefined) {
    observation.diagnose("activity_for_unknown_child", `${type} before thread.started`);
    return;
  }
  if (type === "turn.started") observation.reach(threadId, "running");
  else if (type === "turn.completed") {
    observation.noteOn(threadId, { turnCompleted: true });
    observation.activity(threadId, "turn completed", usageOf(line));
  } else if (type === "turn.failed") {
    observation.know(threadId, { terminalCause: "known" });
    observation.reach(
      threadId,
      "failed",
      stated({ cause: "turn_failed", error: wordIn(objectIn(line, "error"), "message") }),
    );
  } else if (type === "error") {
    observation.diagnose("error_reported", wordIn(line, "message") ?? "an error", threadId);
  } else if (ITEM_LINES.has(type)) item(observation, type, objectIn(line, "item"), threadId);
  else if (type === "item.plan.delta") observation.activity(threadId, "plan");
  else if (type === "request_user_input") observation.reach(threadId, "waiting", { waitingOn: { kind: "user" } });
  else {
    observation.diagnose("unsupported_event", type, threadId);
    observation.hintReconciliation(threadId, "unsupported_event");
  }
}

function item(observation: Observation, line: string, fields: Fields, threadId: string): void {
  const type = wordIn(fields, "type") ?? wordIn(fields, "item_type");
  if (type === "collab_tool_call") collabItem(observation, line, fields, threadId);
  else if (type !== undefined && ITEM_TYPES.has(type)) {
    if (observation.find(threadId)?.state === "starting") observation.reach(threadId, "running", { inferred: true });
    // A command that fails or is declined is a step of the work, not its end.
    observation.activity(threadId, type.replaceAll("_", " "), stated({ tool: toolOf(type, fields) }));
  } else observation.diagnose("unsupported_event", `item ${type ?? "without type"}`, threadId);
}

function toolOf(type: string, fields: Fields): string | undefined {
  return type === "mcp_tool_call" ? wordIn(fields, "tool") : type === "command_execution" ? "shell" : undefined;
}

function usageOf(line: Fields): Record<string, unknown> {
  const usage = objectIn(line, "usage");
  const counted = stated({
    inputTokens: countIn(usage, "input_tokens"),
    outputTokens: countIn(usage, "output_tokens"),
  });
  return Object.keys(counted).length === 0 ? {} : { usage: counted };
}

/** A completed turn ends the thread only together with the process's exit code 0. */
function endStream(state: AdapterState, { observedAtMs, exitCode, signal, requested }: StreamEnd): AdapterResult {
  const observation = new Observation(state, observedAtMs);
  const threadId = threadOf(observation);
  const thread = threadId === undefined ? undefined : observation.findLive(threadId);
  const aborted = signal !== undefined && requested === true;
  if (thread !== undefined) {
    if (signal !== undefined) {
      observation.reach(thread.key, aborted ? "cancelled" : "failed", {
        cause: aborted ? "user_abort" : "signal",
        signal,
      });
    } else if (exitCode === undefined) observation.hintReconciliation(thread.key, "stream_ended");
    else if (exitCode !== 0) observation.reach(thread.key, "failed", { cause: "exit_code", exitCode });
    else {
      const proof = thread.notes.turnCompleted === true ? {} : { inferred: true };
      observation.reach(thread.key, "completed", { exitCode, ...proof });
    }
  }
  for (const { key, state } of observation.liveChildren()) {
    if (key === threadId) continue;
    // A spawn that has not even an identity cannot outlive the process that was asked for it.
    if (aborted && state === "created") observation.reach(key, "cancelled", { cause: "user_abort" });
    else observation.hintReconciliation(key, "stream_ended");
  }
  return observation.finish();
}

function threadOf(observation: Observation): string | undefined {
  const { threadId } = observation.notes;
  return typeof threadId === "string" ? threadId : undefined;
}
