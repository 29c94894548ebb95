import type { Adapter, AdapterResult } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState } from "./adapter-state.ts";
import { type Fields, fieldsOf, flagIn, identifierIn, integerIn, stated, wordIn } from "./json-fields.ts";
import { Observation } from "./observation.ts";
import { releasing } from "./replay.ts";

/** Who started a process hears of its end with its cause. */
const CAPABILITIES = { terminalCause: "known" } as const;

/**
 * What a parent sees of processes that it started, one record a line: `{ type, id, … }` with the types `spawn` (`pid`,
 * `name`, `parentId`), `spawn_error`, `output`, `heartbeat` and `exit` (`exitCode` or `signal`, and `requested` if the end
 * was asked for). The output itself is never part of it.
 */
export const plainProcess: Adapter = {
  format: "process",
  defaultSource: "process",
  map: releasing(mapRecord),
  end: (state, { observedAtMs }) => {
    const observation = new Observation(state, observedAtMs);
    // Whoever watched has gone. The processes may not have.
    for (const { key } of observation.liveChildren()) observation.hintReconciliation(key, "stream_ended");
    return observation.finish();
  },
};

function mapRecord(state: AdapterState, input: AdapterInput): AdapterResult {
  const observation = new Observation(state, input.observedAtMs);
  const record = fieldsOf(input.value);
  const type = wordIn(record, "type");
  const id = identifierIn(record, "id");
  if (type === undefined || id === undefined) {
    observation.diagnose("invalid_input", `a record has ${type === undefined ? "type" : "id"}`);
  } else if (type === "spawn" || type === "spawn_error") spawned(observation, id, record, type === "spawn");
  else if (observation.find(id) === undefined) {
    if (type === "exit") observation.diagnose("unmatched_terminal", `the exit of ${id}`);
    else observation.quarantine(id, input, undefined);
  } else if (type === "output") observation.reach(id, "running");
  else if (type === "heartbeat") observation.heartbeat(id);
  else if (type === "exit") exited(observation, id, record);
  else observation.diagnose("unsupported_event", type, id);
  return observation.finish();
}

function spawned(observation: Observation, id: string, record: Fields, started: boolean): void {
  if (observation.find(id) !== undefined) {
    observation.diagnose("duplicate_start", id, id);
    return;
  }
  const details = stated({ name: wordIn(record, "name"), pid: integerIn(record, "pid") });
  const parentKey = identifierIn(record, "parentId");
  observation.begin(id, { parentKey, state: started ? "starting" : "created", capabilities: CAPABILITIES, details });
  if (!started) observation.reach(id, "failed", { cause: "spawn_failed" });
}

function exited(observation: Observation, id: string, record: Fields): void {
  const exitCode = integerIn(record, "exitCode");
  const signal = wordIn(record, "signal");
  if (exitCode === 0) observation.reach(id, "completed", { exitCode });
  else if (flagIn(record, "requested") === true) {
    observation.reach(id, "cancelled", { cause: "requested", ...stated({ exitCode, signal }) });
  } else if (signal !== undefined) observation.reach(id, "failed", { cause: "signal", signal });
  else if (exitCode !== undefined) observation.reach(id, "failed", { cause: "exit_code", exitCode });
  else {
    observation.diagnose("unsupported_status", `the exit of ${id} has neither code nor signal`, id);
    observation.hintReconciliation(id, "unsupported_status");
  }
}
