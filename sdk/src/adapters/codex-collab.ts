import { isTerminal, type State } from "@agent-lifecycle/proto";
import { type Fields, fieldsOf, identifierIn, listIn, objectIn, wordIn } from "./json-fields.ts";
import type { Observation } from "./observation.ts";

/** What an agent's status says. `shutdown` is an end by request, whatever came of the work. */
const STATES: ReadonlyMap<string, State> = new Map([
  ["pending_init", "created"],
  ["running", "running"],
  ["completed", "completed"],
  ["errored", "failed"],
  ["shutdown", "cancelled"],
]);

/** A call of one thread about others: it spawns them, waits for them, closes them, and says how they are. */
export function collabItem(observation: Observation, line: string, item: Fields, threadId: string): void {
  const tool = wordIn(item, "tool") ?? "collab";
  const callId = identifierIn(item, "id");
  const sender = identifierIn(item, "sender_thread_id") ?? threadId;
  const parentKey = observation.find(sender) === undefined ? threadId : sender;
  const receivers = listIn(item, "receiver_thread_ids").flatMap((id) => identifierIn({ id }, "id") ?? []);
  if (observation.find(parentKey)?.state === "starting") observation.reach(parentKey, "running", { inferred: true });
  observation.activity(parentKey, tool.replaceAll("_", " "), { tool });
  if (tool === "spawn_agent" && callId !== undefined) spawn(observation, line, item, { callId, parentKey, receivers });
  const states = objectIn(item, "agents_states");
  for (const id of Object.keys(states)) agentState(observation, id, fieldsOf(states[id]), parentKey);
}

interface Spawn {
  readonly callId: string;
  readonly parentKey: string;
  readonly receivers: readonly string[];
}

/** The call is the child until the answer names its thread. */
function spawn(observation: Observation, line: string, item: Fields, { callId, parentKey, receivers }: Spawn): void {
  const [receiver] = receivers;
  if (receiver !== undefined && observation.find(receiver) !== undefined) return;
  const pending = observation.find(callId) ?? observation.begin(callId, { parentKey, details: { name: "agent" } });
  if (receiver !== undefined) {
    observation.alias(receiver, pending.key);
    observation.activity(pending.key, "spawned", { threadId: receiver });
  } else if (line === "item.completed" && wordIn(item, "status") === "failed") {
    observation.reach(pending.key, "failed", { cause: "spawn_failed" });
  }
}

function agentState(observation: Observation, id: string, fields: Fields, parentKey: string): void {
  const name = identifierIn({ id }, "id");
  const status = wordIn(fields, "status");
  if (name === undefined || status === undefined) {
    observation.diagnose("invalid_input", "agents_states names an agent and its status", parentKey);
    return;
  }
  const state = STATES.get(status);
  const child = observation.find(name);
  if (state === undefined) {
    // `not_found` is what somebody did not find, not that it is gone.
    const known = status === "not_found";
    observation.diagnose(
      known ? "error_reported" : "unsupported_status",
      `${name} is ${status}`,
      child?.key ?? parentKey,
    );
    observation.hintReconciliation(name, known ? "not_found" : "unsupported_status");
  } else if (child === undefined) {
    if (isTerminal(state)) observation.diagnose("unmatched_terminal", `${name} is ${status}`, parentKey);
    else observation.begin(name, { parentKey, adopted: true, state, details: { name: "agent" } });
  } else if (state === "created" || (isTerminal(child.state) && state === "cancelled")) return;
  // The same words are said again with every call: only a change is news.
  else if (!(isTerminal(child.state) && child.state === state))
    observation.reach(name, state, isTerminal(state) ? { cause: status } : {});
}
