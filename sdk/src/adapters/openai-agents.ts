import { isTerminal } from "@agent-lifecycle/proto";
import type { Adapter, AdapterResult } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState } from "./adapter-state.ts";
import { type Fields, fieldsOf, identifierIn, member, objectIn, stated, timeIn, wordIn } from "./json-fields.ts";
import { Observation } from "./observation.ts";

/**
 * What a tracing processor of the OpenAI Agents SDK sees, one record a line: `{ type, data }`, where `type` is
 * `trace.start`, `trace.end`, `span.start` or `span.end` and `data` the exported trace or span. The trace is the root,
 * each span of an agent a child; a handoff is another turn of the run and no child of the agent that handed over.
 */
export const openAiAgents: Adapter = {
  format: "openai-agents",
  defaultSource: "openai-agents",
  map: mapRecord,
  end: (state, { observedAtMs }) => {
    const observation = new Observation(state, observedAtMs);
    for (const { key } of observation.liveChildren()) observation.hintReconciliation(key, "stream_ended");
    return observation.finish();
  },
};

function mapRecord(state: AdapterState, input: AdapterInput): AdapterResult {
  const record = fieldsOf(input.value);
  const type = wordIn(record, "type");
  const data = objectIn(record, "data");
  const time = type === "span.end" ? timeIn(data, "ended_at") : timeIn(data, "started_at");
  const observation = new Observation(state, time ?? input.observedAtMs);
  const traceId =
    identifierIn(data, "trace_id") ?? (type?.startsWith("trace.") === true ? identifierIn(data, "id") : undefined);
  if (type === undefined || traceId === undefined) {
    observation.diagnose("invalid_input", `a record has ${type === undefined ? "type" : "trace_id"}`);
  } else if (type === "trace.start") traceStart(observation, traceId, data);
  else if (type === "trace.end") traceEnd(observation, traceId);
  else if (type === "span.start") spanStart(observation, traceId, data);
  else if (type === "span.end") spanEnd(observation, traceId, data);
  else observation.diagnose("unsupported_event", type, traceId);
  return observation.finish();
}

function traceStart(observation: Observation, traceId: string, data: Fields): void {
  if (observation.find(traceId) !== undefined) observation.diagnose("duplicate_start", traceId, traceId);
  else observation.begin(traceId, { state: "running", details: stated({ name: wordIn(data, "workflow_name") }) });
}

/** It ends the trace and nobody else: its agents may work on. */
function traceEnd(observation: Observation, traceId: string): void {
  const trace = observation.find(traceId);
  if (trace === undefined) observation.diagnose("unmatched_terminal", `the end of trace ${traceId}`);
  else if (!isTerminal(trace.state)) {
    observation.reach(traceId, "completed", { inferred: true, cause: "outcome_unverified" });
  }
}

function spanStart(observation: Observation, traceId: string, data: Fields): void {
  const spanId = identifierIn(data, "id", "span_id");
  if (spanId === undefined) {
    observation.diagnose("invalid_input", "a span has id", traceId);
    return;
  }
  if (observation.find(traceId) === undefined) {
    observation.begin(traceId, { adopted: true, state: "running", details: { name: "workflow" } });
  }
  const parentId = identifierIn(data, "parent_id");
  const parent = parentId === undefined ? undefined : observation.find(parentId);
  const doer = parent?.key ?? traceId;
  const span = objectIn(data, "span_data");
  const type = wordIn(span, "type") ?? "span";
  if (type === "agent") {
    const name = wordIn(span, "name");
    if (observation.find(spanId) !== undefined) observation.diagnose("duplicate_start", spanId, spanId);
    else observation.begin(spanId, { parentKey: doer, state: "running", details: stated({ name, agentType: name }) });
    return;
  }
  // What happens inside this span is the work of the agent around it.
  observation.alias(spanId, doer);
  const tool = type === "function" || type === "mcp_tools" ? wordIn(span, "name") : undefined;
  observation.activity(doer, tool ?? type, stated({ tool, model: wordIn(span, "model") }));
}

/** Some versions end a span without its error: that nothing is said of one is no proof of success. */
function spanEnd(observation: Observation, traceId: string, data: Fields): void {
  const spanId = identifierIn(data, "id", "span_id");
  const isAgent = wordIn(objectIn(data, "span_data"), "type") === "agent";
  if (spanId === undefined || !isAgent) return;
  const child = observation.find(spanId);
  if (child === undefined) {
    observation.diagnose("unmatched_terminal", `the end of span ${spanId}`, traceId);
    return;
  }
  if (isTerminal(child.state)) return;
  const error = member(data, "error");
  if (error === undefined || error === null) {
    observation.reach(spanId, "completed", { inferred: true, cause: "outcome_unverified" });
    return;
  }
  const cause = wordIn(fieldsOf(error), "message") ?? "error";
  const cancelled = /cancel/i.test(wordIn(objectIn(fieldsOf(error), "data"), "error_type") ?? cause);
  observation.know(spanId, { terminalCause: "known" });
  observation.reach(spanId, cancelled ? "cancelled" : "failed", { cause });
}
