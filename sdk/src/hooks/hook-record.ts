/**
 * What the spool keeps of a hook's payload: identifiers and words. Prompts, inputs, outputs, messages and paths of work
 * are never written. This file is in the path of every tool call of the host: it imports nothing.
 */
type Members = Readonly<Record<string, unknown>>;

const LONGEST_WORD = 256;
const LONGEST_PATH = 1_024;
const MAX_TASKS = 64;

const WORDS: readonly string[] = [
  "hook_event_name",
  "session_id",
  "agent_id",
  "agent_type",
  "tool_name",
  "tool_use_id",
  "turn_id",
  "source",
  "model",
  "reason",
  "notification_type",
  "permission_mode",
  "teammate_name",
  "team_name",
  "task_id",
];
const PATHS: readonly string[] = ["transcript_path", "agent_transcript_path"];
const FLAGS: readonly string[] = ["stop_hook_active", "is_interrupt"];
/** Members that hold objects, and which words of them are kept. */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  tool_input: ["subagent_type"],
  tool_response: ["agentId", "agent_id", "status"],
};
const TASK_WORDS: readonly string[] = ["id", "type", "status", "agent_type"];

/** The payload without its content. @returns `undefined` when it is no object. */
export function withoutContent(payload: unknown): Record<string, unknown> | undefined {
  if (!isMembers(payload)) return undefined;
  const kept = wordsOf(payload, WORDS);
  for (const name of PATHS) {
    const path = payload[name];
    if (typeof path === "string" && path.length <= LONGEST_PATH) kept[name] = path;
  }
  for (const name of FLAGS) if (typeof payload[name] === "boolean") kept[name] = payload[name];
  for (const name of Object.keys(NESTED)) {
    const inner = payload[name];
    const words = isMembers(inner) ? wordsOf(inner, NESTED[name] ?? []) : {};
    if (Object.keys(words).length > 0) kept[name] = words;
  }
  const tasks = payload.background_tasks;
  if (Array.isArray(tasks)) {
    kept.background_tasks = tasks.slice(0, MAX_TASKS).map((task) => (isMembers(task) ? wordsOf(task, TASK_WORDS) : {}));
  }
  return kept;
}

function wordsOf(members: Members, names: readonly string[]): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of names) {
    const word = members[name];
    if (typeof word === "string" && word.length <= LONGEST_WORD) kept[name] = word;
  }
  return kept;
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
