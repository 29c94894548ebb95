import { type Capabilities, isTerminal } from "@agent-lifecycle/proto";
import type { TrackedChild } from "./adapter-state.ts";
import type { HookCall } from "./hook-call.ts";
import { fieldsOf, identifierIn, listIn, stated, wordIn } from "./json-fields.ts";
import type { Observation } from "./observation.ts";

/** Hooks tell when something happens and answer no question. */
const CAPABILITIES: Partial<Capabilities> = {};

/** Reasons of an end that say why it came. */
const NAMED_REASONS: ReadonlySet<string> = new Set([
  "clear",
  "logout",
  "prompt_input_exit",
  "bypass_permissions_disabled",
]);

/** The session as a child: it is there as soon as any of its hooks speaks. One whose start was not seen is adopted. */
export function sessionOf(observation: Observation, call: HookCall): TrackedChild {
  return (
    observation.find(call.sessionId) ??
    observation.begin(call.sessionId, {
      adopted: true,
      state: "running",
      capabilities: CAPABILITIES,
      details: sessionDetails(call),
    })
  );
}

/** Hooks about the session itself. @returns whether it was one. */
export function sessionHook(observation: Observation, call: HookCall): boolean {
  const { event, sessionId } = call;
  switch (event) {
    case "SessionStart":
      start(observation, call);
      return true;
    case "UserPromptSubmit":
      sessionOf(observation, call);
      observation.reach(sessionId, "running");
      return true;
    case "Stop":
      sessionOf(observation, call);
      stop(observation, call);
      return true;
    case "StopFailure":
      sessionOf(observation, call);
      observation.reach(sessionId, "waiting", { waitingOn: { kind: "user", text: "the turn failed" } });
      observation.diagnose("error_reported", "a turn ended in an error of the API", sessionId);
      return true;
    case "SessionEnd":
      sessionOf(observation, call);
      end(observation, call);
      return true;
    default:
      return false;
  }
}

function start(observation: Observation, call: HookCall): void {
  const { sessionId, payload } = call;
  const known = observation.find(sessionId);
  const how = wordIn(payload, "source");
  if (known === undefined) {
    const resumed = how === "resume";
    observation.begin(sessionId, { adopted: resumed, state: "starting", details: sessionDetails(call) });
  } else if (isTerminal(known.state)) observation.retry(known, { state: "starting", details: sessionDetails(call) });
  else {
    if (how === "resume") observation.renewEpoch(sessionId);
    observation.activity(sessionId, `session ${how ?? "start"}`);
  }
}

/** The end of a turn is not the end of a session. */
function stop(observation: Observation, call: HookCall): void {
  const tasks = listIn(call.payload, "background_tasks").map(fieldsOf);
  const running = tasks.filter((task) => wordIn(task, "status") === "running");
  const ids = running.flatMap((task) => identifierIn(task, "id") ?? []);
  const child = ids.map((id) => observation.find(id)).find((found) => found !== undefined);
  const waitingOn =
    running.length === 0
      ? { kind: "user" }
      : stated({ kind: "child", childId: child?.childId, text: `${running.length} background task(s)` });
  const before = observation.find(call.sessionId);
  const what = child?.childId ?? (running.length === 0 ? "user" : "background");
  // Another turn has ended: what it waits on may be another thing than before.
  if (before?.state === "waiting" && before.notes.waitsOn !== what) {
    observation.reach(call.sessionId, "running", { inferred: true });
  }
  observation.reach(call.sessionId, "waiting", { waitingOn });
  observation.noteOn(call.sessionId, { waitsOn: what });
  // The list is the session's own account of what runs in the background; not being on it ends nobody.
  if (Array.isArray(call.payload.background_tasks)) {
    for (const { key, notes } of observation.liveChildren()) {
      if (notes.session !== call.sessionId || ids.some((id) => observation.find(id)?.key === key)) continue;
      observation.hintReconciliation(key, "not_among_background_tasks");
    }
  }
}

function end(observation: Observation, { sessionId, payload }: HookCall): void {
  const reason = wordIn(payload, "reason") ?? "other";
  if (NAMED_REASONS.has(reason)) observation.know(sessionId, { terminalCause: "known" });
  observation.reach(sessionId, "completed", { cause: reason });
  for (const { key, notes } of observation.liveChildren()) {
    if (notes.session === sessionId) observation.hintReconciliation(key, "session_ended");
  }
}

function sessionDetails({ payload, agentType }: HookCall): Record<string, unknown> {
  return stated({
    name: "session",
    model: wordIn(payload, "model"),
    agentType,
    transcriptRef: identifierIn(payload, "transcript_path"),
  });
}
