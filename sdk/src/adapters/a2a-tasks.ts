import { isTerminal, type State } from "@agent-lifecycle/proto";
import type { Adapter, AdapterResult } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState } from "./adapter-state.ts";
import { type Fields, fieldsOf, identifierIn, member, objectIn, stated, timeIn, wordIn } from "./json-fields.ts";
import { Observation } from "./observation.ts";
import { releasing } from "./replay.ts";

/** A task can be asked for and cancelled, and its status carries a message. */
const CAPABILITIES = { snapshot: "known", cancel: "known", terminalCause: "known" } as const;

interface Meaning {
  readonly state: State;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Words of both spellings: `input-required` and `TASK_STATE_INPUT_REQUIRED`. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["submitted", { state: "created" }],
  ["working", { state: "running" }],
  ["input-required", { state: "waiting", details: { waitingOn: { kind: "user" } } }],
  ["auth-required", { state: "waiting", details: { waitingOn: { kind: "auth" } } }],
  ["completed", { state: "completed" }],
  ["failed", { state: "failed", details: { cause: "failed" } }],
  ["canceled", { state: "cancelled", details: { cause: "canceled" } }],
  ["cancelled", { state: "cancelled", details: { cause: "cancelled" } }],
  ["rejected", { state: "failed", details: { cause: "rejected" } }],
]);

/** Tasks of A2A (Agent2Agent): tasks, status and artifact updates, bare or in a JSON-RPC answer. */
export const a2aTasks: Adapter = {
  format: "a2a",
  defaultSource: "a2a",
  map: releasing(mapUpdate),
  end: (state, { observedAtMs }) => {
    const observation = new Observation(state, observedAtMs);
    for (const { key } of observation.liveChildren()) observation.hintReconciliation(key, "stream_ended");
    return observation.finish();
  },
};

function mapUpdate(state: AdapterState, input: AdapterInput): AdapterResult {
  const update = unwrapped(fieldsOf(input.value));
  const status = objectIn(update, "status");
  const observation = new Observation(state, timeIn(status, "timestamp") ?? input.observedAtMs);
  const taskId = identifierIn(update, "taskId", "task_id") ?? identifierIn(update, "id");
  if (member(update, "role") !== undefined && taskId === undefined) return observation.finish();
  if (taskId === undefined) observation.diagnose("invalid_input", "an update names its task");
  else if (member(update, "status") !== undefined) taskStatus(observation, taskId, status, update);
  else if (member(update, "artifact") !== undefined) artifact(observation, taskId, input);
  else if (member(update, "role") === undefined)
    observation.diagnose("unsupported_event", "an update without status", taskId);
  return observation.finish();
}

/** JSON-RPC answers and the named members of the 1.0 stream hold the same objects. */
function unwrapped(fields: Fields): Fields {
  let inner = fields;
  for (const name of ["result", "params", "task", "statusUpdate", "artifactUpdate"]) {
    const value = member(inner, name);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) inner = fieldsOf(value);
  }
  return inner;
}

function taskStatus(observation: Observation, taskId: string, status: Fields, update: Fields): void {
  const word = wordIn(status, "state");
  const meaning = MEANINGS.get(plain(word));
  if (meaning === undefined) {
    observation.diagnose("unsupported_status", `task ${taskId}: ${word ?? "no state"}`, taskId);
    observation.hintReconciliation(taskId, "unsupported_status");
    return;
  }
  const known = observation.find(taskId);
  if (known === undefined) begin(observation, taskId, meaning, identifierIn(update, "contextId", "context_id"));
  else if (known.state !== meaning.state) observation.reach(taskId, meaning.state, meaning.details);
  else if (!isTerminal(known.state)) observation.activity(taskId, plain(word));
}

/** A task in the context of one that has ended is its next attempt. */
function begin(
  observation: Observation,
  taskId: string,
  { state, details }: Meaning,
  contextId: string | undefined,
): void {
  const context = contextId === undefined ? undefined : `context ${contextId}`;
  const before = context === undefined ? undefined : observation.find(context);
  const options = {
    capabilities: CAPABILITIES,
    inferred: state !== "created",
    details: stated({ name: "task", contextId, ...(state === "created" ? details : undefined) }),
  };
  if (before !== undefined && isTerminal(before.state)) {
    observation.retry(before, { ...options, key: taskId });
  } else observation.begin(taskId, options);
  if (context !== undefined) observation.alias(context, taskId);
  observation.reach(taskId, state, details);
}

function artifact(observation: Observation, taskId: string, input: AdapterInput): void {
  if (observation.find(taskId) === undefined) observation.quarantine(taskId, input, undefined);
  else observation.activity(taskId, "artifact");
}

function plain(word: string | undefined): string {
  return (word ?? "")
    .toLowerCase()
    .replace(/^task_state_/, "")
    .replaceAll("_", "-");
}
