import { isTerminal } from "@agent-lifecycle/proto";
import type { HookCall } from "./hook-call.ts";
import { sessionOf } from "./hook-session.ts";
import { identifierIn, stated, wordIn } from "./json-fields.ts";
import type { Observation } from "./observation.ts";

/** Hooks about an agent below the session. @returns whether it was one. */
export function subagentHook(observation: Observation, call: HookCall): boolean {
  switch (call.event) {
    case "SubagentStart":
      subagentStart(observation, call);
      return true;
    case "SubagentStop":
      subagentStop(observation, call);
      return true;
    case "TeammateIdle":
      teammateIdle(observation, call);
      return true;
    default:
      return false;
  }
}

function subagentStart(observation: Observation, call: HookCall): void {
  const { agentId, sessionId } = call;
  if (agentId === undefined) {
    observation.diagnose("invalid_input", "SubagentStart without agent_id", sessionOf(observation, call).key);
    return;
  }
  sessionOf(observation, call);
  const details = stated({ agentType: call.agentType, name: call.agentType });
  const notes = { session: sessionId };
  const known = observation.find(agentId);
  if (known !== undefined && isTerminal(known.state)) observation.retry(known, { state: "starting", details, notes });
  else if (known !== undefined) observation.activity(agentId, "started again", details);
  else {
    const spawned = pendingSpawn(observation, call);
    if (spawned === undefined) observation.begin(agentId, { parentKey: sessionId, state: "starting", details, notes });
    else {
      // Nothing names the call that an agent comes from. The oldest open one of its type is the best there is.
      observation.alias(agentId, spawned);
      observation.noteOn(spawned, { agentId });
      observation.reach(spawned, "starting", { ...details, joinedBy: "type and order" });
    }
  }
}

/** The oldest call that asked for an agent of this type and has none yet. */
function pendingSpawn(observation: Observation, call: HookCall): string | undefined {
  return observation
    .liveChildren()
    .find(
      ({ state, notes }) =>
        state === "created" &&
        notes.session === call.sessionId &&
        notes.spawn === true &&
        notes.agentId === undefined &&
        notes.agentType === call.agentType,
    )?.key;
}

/** An end without an outcome; it may also be the wrong one's, or be held up by another hook. */
function subagentStop(observation: Observation, call: HookCall): void {
  const { agentId } = call;
  const child = agentId === undefined ? undefined : observation.find(agentId);
  if (agentId === undefined || child === undefined) {
    const { key } = sessionOf(observation, call);
    observation.diagnose("unmatched_terminal", `SubagentStop of ${agentId ?? "nobody"}`, key);
    return;
  }
  if (isTerminal(child.state)) return;
  observation.reach(agentId, "completed", {
    inferred: true,
    cause: "outcome_unverified",
    ...stated({ transcriptRef: identifierIn(call.payload, "agent_transcript_path") }),
  });
}

function teammateIdle(observation: Observation, call: HookCall): void {
  const { key } = sessionOf(observation, call);
  const name = identifierIn(call.payload, "teammate_name");
  if (name === undefined) {
    observation.diagnose("invalid_input", "TeammateIdle without teammate_name", key);
    return;
  }
  const teammate = [wordIn(call.payload, "team_name"), name].filter((part) => part !== undefined).join("/");
  const waitingOn = { kind: "other", text: "idle" };
  if (observation.find(teammate) !== undefined) observation.reach(teammate, "waiting", { waitingOn });
  else {
    observation.begin(teammate, {
      parentKey: key,
      adopted: true,
      state: "waiting",
      details: { name, waitingOn },
      notes: { session: call.sessionId },
    });
  }
}
