import { isTerminal, type State } from "@agent-lifecycle/proto";
import type { Adapter, AdapterResult } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState } from "./adapter-state.ts";
import {
  type Fields,
  fieldsOf,
  flagIn,
  identifierIn,
  listIn,
  member,
  objectIn,
  stated,
  timeIn,
  wordIn,
} from "./json-fields.ts";
import { Observation } from "./observation.ts";

/** A task can be asked for and cancelled; why it ended is known when its status says so. */
const CAPABILITIES = { snapshot: "known", cancel: "known" } as const;
const RELATED_TASK = "io.modelcontextprotocol/related-task";

const STATES: ReadonlyMap<string, State> = new Map([
  ["working", "running"],
  ["input_required", "waiting"],
  ["completed", "completed"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
]);

/** Tasks of MCP: answers of `tasks/get`, `tasks/list` and calls, notifications of status, and results of tasks. */
export const mcpTasks: Adapter = {
  format: "mcp-tasks",
  defaultSource: "mcp",
  map: mapMessage,
  end: (state, { observedAtMs }) => {
    const observation = new Observation(state, observedAtMs);
    for (const { key } of observation.liveChildren()) observation.hintReconciliation(key, "stream_ended");
    return observation.finish();
  },
};

function mapMessage(state: AdapterState, input: AdapterInput): AdapterResult {
  const message = fieldsOf(input.value);
  const body = bodyOf(message);
  const tasks = listIn(body, "tasks").map(fieldsOf);
  const task = Object.hasOwn(body, "task") ? objectIn(body, "task") : body;
  const observation = new Observation(state, timeIn(task, "lastUpdatedAt") ?? input.observedAtMs);
  const related = identifierIn(objectIn(objectIn(body, "_meta"), RELATED_TASK), "taskId");
  if (member(message, "error") !== undefined) {
    // An id that a server no longer knows says nothing about how the task fared.
    observation.diagnose("error_reported", wordIn(objectIn(message, "error"), "message") ?? "an error of the server");
  } else if (tasks.length > 0) for (const each of tasks) taskStatus(observation, each);
  else if (identifierIn(task, "taskId") !== undefined) taskStatus(observation, task);
  else if (related !== undefined) result(observation, related, body);
  else if (member(body, "tasks") === undefined) observation.diagnose("invalid_input", "a message names its task");
  return observation.finish();
}

function bodyOf(message: Fields): Fields {
  if (identifierIn(message, "taskId") !== undefined) return message;
  for (const name of ["result", "params"]) if (member(message, name) !== undefined) return objectIn(message, name);
  return message;
}

function taskStatus(observation: Observation, task: Fields): void {
  const taskId = identifierIn(task, "taskId");
  if (taskId === undefined) {
    observation.diagnose("invalid_input", "a task has taskId");
    return;
  }
  const status = wordIn(task, "status");
  const said = STATES.get(status ?? "");
  if (said === undefined) {
    observation.diagnose("unsupported_status", `task ${taskId}: ${status ?? "no status"}`, taskId);
    observation.hintReconciliation(taskId, "unsupported_status");
    return;
  }
  const isError = flagIn(objectIn(task, "result"), "isError") ?? isErrorOf(observation, taskId);
  const state = said === "completed" && isError === true ? "failed" : said;
  const details = detailsOf(state, said, isError, task);
  const known =
    observation.find(taskId) ??
    observation.begin(taskId, { capabilities: CAPABILITIES, inferred: true, details: { name: "task" } });
  if (known.state !== state) observation.reach(taskId, state, details);
  // A poll that finds nothing new is no heartbeat.
}

/** `completed` may hold the result of a tool that failed: without a look at the result the outcome is open. */
function detailsOf(
  state: State,
  said: State,
  isError: boolean | undefined,
  task: Fields,
): Readonly<Record<string, unknown>> {
  if (state === "waiting") return { waitingOn: { kind: "user" } };
  if (state === "failed") return { cause: said === "completed" ? "tool_error" : "failed" };
  if (state === "cancelled") return { cause: "cancelled" };
  if (state === "completed") return isError === false ? {} : { cause: "outcome_unverified" };
  return stated({ statusMessage: wordIn(task, "statusMessage") });
}

/** The result of a task, asked for with `tasks/result`. */
function result(observation: Observation, taskId: string, body: Fields): void {
  const child = observation.find(taskId);
  const isError = flagIn(body, "isError") ?? false;
  if (child === undefined) {
    observation.diagnose("unmatched_terminal", `a result of ${taskId}`);
    return;
  }
  if (isTerminal(child.state)) {
    if (isError && child.state === "completed") observation.reach(taskId, "failed", { cause: "tool_error" });
    return;
  }
  observation.noteOn(taskId, { isError });
  observation.reach(taskId, isError ? "failed" : "completed", isError ? { cause: "tool_error" } : {});
}

function isErrorOf(observation: Observation, taskId: string): boolean | undefined {
  const isError = observation.find(taskId)?.notes.isError;
  return typeof isError === "boolean" ? isError : undefined;
}
