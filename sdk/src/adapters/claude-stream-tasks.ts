import { isTerminal, type TerminalState } from "@agent-lifecycle/proto";
import {
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
import type { Observation } from "./observation.ts";

const ENDS: ReadonlyMap<string, TerminalState> = new Map([
  ["completed", "completed"],
  ["failed", "failed"],
  ["stopped", "cancelled"],
  ["killed", "cancelled"],
  ["cancelled", "cancelled"],
]);
/** Words for a task that has not ended, and what they say. */
const GOES_ON: ReadonlySet<string> = new Set(["pending", "running", "in_progress"]);

/** Lines about tasks of the session. @returns whether it was one. */
export function claudeTaskLine(observation: Observation, subtype: string, line: Fields, sessionId: string): boolean {
  const taskId = identifierIn(line, "task_id");
  switch (subtype) {
    case "task_started":
      if (taskId !== undefined) started(observation, taskId, line, sessionId);
      break;
    case "task_progress":
      if (taskId !== undefined && isKnown(observation, taskId, sessionId, subtype)) progress(observation, taskId, line);
      break;
    case "task_updated":
      if (taskId !== undefined) {
        ended(observation, taskId, wordIn(objectIn(line, "patch"), "status"), line, sessionId);
      }
      break;
    case "task_notification":
      if (taskId !== undefined) ended(observation, taskId, wordIn(line, "status") ?? "", line, sessionId);
      break;
    case "background_tasks_changed":
      listed(observation, line, sessionId);
      return true;
    default:
      return false;
  }
  if (taskId === undefined) observation.diagnose("invalid_input", `${subtype} without task_id`, sessionId);
  return true;
}

function started(observation: Observation, taskId: string, line: Fields, sessionId: string): void {
  if (flagIn(line, "ambient") === true) return;
  const toolUseId = identifierIn(line, "tool_use_id");
  const taskType = wordIn(line, "task_type");
  const details = stated({
    name: wordIn(line, "subagent_type") ?? taskType,
    agentType: wordIn(line, "subagent_type"),
    taskType,
  });
  const notes = toolUseId === undefined ? {} : { toolUseId };
  const known = observation.find(taskId);
  if (known === undefined) {
    const capabilities = { terminalCause: "known" } as const;
    observation.begin(taskId, { parentKey: sessionId, state: "running", details, notes, capabilities });
  } else if (isTerminal(known.state) && toolUseId !== undefined && known.notes.toolUseId !== toolUseId) {
    observation.retry(known, { state: "running", details, notes });
  } else observation.diagnose("duplicate_start", `${taskId} was started before`, taskId);
  if (toolUseId !== undefined) observation.alias(toolUseId, taskId);
}

function progress(observation: Observation, taskId: string, line: Fields): void {
  const toolCalls = countIn(objectIn(line, "usage"), "tool_uses");
  const tool = wordIn(line, "last_tool_name");
  observation.activity(
    taskId,
    tool ?? "progress",
    stated({ tool, usage: toolCalls === undefined ? undefined : { toolCalls } }),
  );
}

function ended(
  observation: Observation,
  taskId: string,
  status: string | undefined,
  line: Fields,
  sessionId: string,
): void {
  const child = observation.find(taskId);
  const end = ENDS.get(status ?? "");
  if (child === undefined) {
    observation.diagnose(end === undefined ? "activity_for_unknown_child" : "unmatched_terminal", taskId, sessionId);
    return;
  }
  const toolUseId = identifierIn(line, "tool_use_id");
  if (end !== undefined && toolUseId !== undefined && toolUseId !== (child.notes.toolUseId ?? toolUseId)) {
    // The attempt that it is about is not the newest one, which goes on.
    observation.diagnose("unmatched_terminal", `${taskId} by ${toolUseId}, an earlier attempt`, taskId);
  } else if (end !== undefined) {
    observation.reach(taskId, end, stated({ cause: status, resultRef: identifierIn(line, "output_file") }));
  } else if (status === undefined || GOES_ON.has(status)) observation.activity(taskId, status ?? "updated");
  else {
    observation.diagnose("unsupported_status", `status ${status}`, taskId);
    observation.hintReconciliation(taskId, "unsupported_status");
  }
}

/** The session's own list of what runs. Who is not on it is to be asked about; nobody ends by that. */
function listed(observation: Observation, line: Fields, sessionId: string): void {
  const ids = new Set(listIn(line, "tasks").flatMap((task) => identifierIn(fieldsOf(task), "task_id") ?? []));
  for (const id of ids) isKnown(observation, id, sessionId, "background_tasks_changed");
  for (const { key } of observation.liveChildren()) {
    if (key !== sessionId && !ids.has(key)) observation.hintReconciliation(key, "not_among_background_tasks");
  }
}

function isKnown(observation: Observation, taskId: string, sessionId: string, subtype: string): boolean {
  if (observation.find(taskId) !== undefined) return true;
  observation.diagnose("activity_for_unknown_child", `${subtype} of ${taskId}`, sessionId);
  return false;
}
