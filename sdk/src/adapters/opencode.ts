import { isTerminal } from "@agent-lifecycle/proto";
import type { Adapter, AdapterResult } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState, TrackedChild } from "./adapter-state.ts";
import { countIn, type Fields, fieldsOf, identifierIn, objectIn, stated, wordIn } from "./json-fields.ts";
import { Observation } from "./observation.ts";
import { releasing } from "./replay.ts";

/** Of a session that can answer questions about itself over REST, and be aborted. */
const CAPABILITIES = { history: "known", cancel: "known" } as const;

/** Events of the server and its tools that say nothing about a session's state. */
const WITHOUT_MEANING =
  /^(server\.heartbeat|file\.|lsp\.|ide\.|installation\.|tui\.|pty\.|vcs\.|todo\.|mcp\.|project\.|worktree\.|catalog\.|global\.)/;

const ASKS: ReadonlyMap<string, string> = new Map([
  ["permission.asked", "permission"],
  ["permission.updated", "permission"],
  ["question.asked", "user"],
]);
const ANSWERS: ReadonlySet<string> = new Set(["permission.replied", "question.replied", "question.rejected"]);

/**
 * Events of an OpenCode server (`/event`, `/global/event`): sessions, and those below them. A session with a parent is
 * there for one task: idle is its end, without an outcome. One without waits for its user.
 */
export const openCode: Adapter = {
  format: "opencode",
  defaultSource: "opencode",
  map: releasing(mapEvent),
  end: (state, { observedAtMs }) => {
    const observation = new Observation(state, observedAtMs);
    for (const { key } of observation.liveChildren()) observation.hintReconciliation(key, "stream_ended");
    return observation.finish();
  },
};

function mapEvent(state: AdapterState, input: AdapterInput): AdapterResult {
  const observation = new Observation(state, input.observedAtMs);
  const outer = fieldsOf(input.value);
  const event = Object.hasOwn(outer, "payload") ? objectIn(outer, "payload") : outer;
  const type = wordIn(event, "type");
  const properties = objectIn(event, "properties");
  if (type === undefined) observation.diagnose("invalid_input", "an event has type");
  else if (type === "server.connected") serverConnected(observation);
  else if (type.endsWith("instance.disposed")) renewEpochs(observation);
  else if (!WITHOUT_MEANING.test(type)) sessionEvent(observation, type, properties, input);
  return observation.finish();
}

/** Another connection: what happened in between was not seen. */
function serverConnected(observation: Observation): void {
  if (observation.notes.connected === true) renewEpochs(observation);
  observation.note({ connected: true });
}

function renewEpochs(observation: Observation): void {
  for (const { key } of observation.liveChildren()) {
    observation.hintReconciliation(key, "reconnected");
    observation.renewEpoch(key);
  }
}

function sessionEvent(observation: Observation, type: string, properties: Fields, input: AdapterInput): void {
  if (type === "session.created" || type === "session.updated") {
    sessionKnown(observation, objectIn(properties, "info"), type);
    return;
  }
  const id =
    identifierIn(properties, "sessionID") ??
    identifierIn(objectIn(properties, "info"), "sessionID", "id") ??
    identifierIn(objectIn(properties, "part"), "sessionID");
  if (id === undefined) {
    if (type === "session.error") observation.diagnose("error_reported", "an error of no session");
    else observation.diagnose(isKnownType(type) ? "invalid_input" : "unsupported_event", type);
    return;
  }
  // Older versions tell of a session that nobody has seen being created: it is adopted, in the state that is told.
  const session = observation.find(id);
  if (session === undefined) unknownSession(observation, type, id, properties, input);
  else knownSession(observation, type, session, properties);
}

function sessionKnown(observation: Observation, info: Fields, type: string): void {
  const id = identifierIn(info, "id");
  if (id === undefined) {
    observation.diagnose("invalid_input", `${type} without info.id`);
    return;
  }
  if (observation.find(id) !== undefined) {
    if (type === "session.created") observation.diagnose("duplicate_start", id, id);
    return;
  }
  const parentKey = identifierIn(info, "parentID");
  observation.begin(id, {
    parentKey,
    adopted: type === "session.updated",
    state: "starting",
    capabilities: CAPABILITIES,
    details: stated({ name: parentKey === undefined ? "session" : "task", agentType: wordIn(info, "agent") }),
    notes: parentKey === undefined ? {} : { isTask: true },
  });
}

function unknownSession(
  observation: Observation,
  type: string,
  id: string,
  properties: Fields,
  input: AdapterInput,
): void {
  const status = wordIn(objectIn(properties, "status"), "type");
  if (type === "session.status" && status === "busy") {
    observation.begin(id, {
      adopted: true,
      state: "running",
      capabilities: CAPABILITIES,
      details: { name: "session" },
    });
  } else observation.quarantine(id, input, undefined);
}

function knownSession(observation: Observation, type: string, session: TrackedChild, properties: Fields): void {
  const { key } = session;
  if (type === "session.status") status(observation, session, objectIn(properties, "status"));
  else if (type === "session.idle") idle(observation, session);
  else if (type === "session.error") error(observation, session, objectIn(properties, "error"));
  else if (type === "session.deleted") {
    if (!isTerminal(session.state)) observation.reach(key, "cancelled", { cause: "deleted" });
  } else if (ASKS.has(type)) observation.reach(key, "waiting", { waitingOn: { kind: ASKS.get(type) } });
  else if (ANSWERS.has(type)) observation.reach(key, "running");
  else if (type === "message.updated" || type === "message.part.updated") message(observation, key, properties);
  else if (type === "session.compacted" || type === "session.diff") observation.activity(key, type);
  else if (!type.startsWith("message.")) {
    observation.diagnose("unsupported_event", type, key);
    observation.hintReconciliation(key, "unsupported_event");
  }
}

function status(observation: Observation, session: TrackedChild, fields: Fields): void {
  const { key } = session;
  const word = wordIn(fields, "type");
  if (word === "idle") idle(observation, session);
  else if (word === "busy") {
    // Another prompt to a task that had ended is another attempt; nothing comes back to life.
    if (isTerminal(session.state)) {
      observation.retry(session, { state: "running", notes: session.notes.isTask === true ? { isTask: true } : {} });
    } else observation.reach(key, "running");
    observation.noteOn(key, { errorSeen: "" });
  } else if (word === "retry") {
    const attempt = countIn(fields, "attempt");
    const text = attempt === undefined ? undefined : `attempt ${attempt}`;
    observation.reach(key, "waiting", { waitingOn: stated({ kind: "provider_retry", text }) });
    observation.noteOn(key, { errorSeen: "" });
  } else {
    observation.diagnose("unsupported_status", `status ${word ?? "without type"}`, key);
    observation.hintReconciliation(key, "unsupported_status");
  }
}

function idle(observation: Observation, { key, state, notes }: TrackedChild): void {
  if (isTerminal(state)) return;
  const { errorSeen } = notes;
  if (notes.isTask !== true) observation.reach(key, "waiting", { waitingOn: { kind: "user" } });
  else if (typeof errorSeen === "string" && errorSeen !== "") observation.reach(key, "failed", { cause: errorSeen });
  else observation.reach(key, "completed", { inferred: true, cause: "outcome_unverified" });
}

/** An error may be followed by a retry: only what comes next tells what it meant. */
function error(observation: Observation, session: TrackedChild, fields: Fields): void {
  const { key, notes } = session;
  const name = wordIn(fields, "name") ?? "error";
  if (name === "MessageAbortedError") {
    if (notes.isTask === true) observation.reach(key, "cancelled", { cause: "aborted" });
    else observation.activity(key, "turn aborted");
    return;
  }
  observation.diagnose("error_reported", name, key);
  observation.noteOn(key, { errorSeen: name });
}

function message(observation: Observation, key: string, properties: Fields): void {
  const part = objectIn(properties, "part");
  const tool = wordIn(part, "type") === "tool" ? wordIn(part, "tool") : undefined;
  observation.activity(key, tool ?? "message", stated({ tool }));
}

function isKnownType(type: string): boolean {
  return /^(session|message|permission|question)\./.test(type);
}
