import { parseTimestamp } from "@agent-lifecycle/proto";
import type { AdapterInput } from "./adapter-input.ts";
import { type Fields, fieldsOf, identifierIn, member, objectIn, wordIn } from "./json-fields.ts";

/** One call of a hook, read. */
export interface HookCall {
  readonly input: AdapterInput;
  readonly observedAtMs: number;
  readonly event: string;
  /** Inside a subagent, too, it is the session of the parent. */
  readonly sessionId: string;
  /** Only inside a subagent, or about one. */
  readonly agentId: string | undefined;
  readonly agentType: string | undefined;
  readonly toolName: string | undefined;
  readonly toolUseId: string | undefined;
  readonly payload: Fields;
}

type PossibleCall = Omit<HookCall, "event" | "sessionId"> & Partial<Pick<HookCall, "event" | "sessionId">>;

/** Reads a call from the shim's record (`{ receivedAt, payload }`) or from the bare payload. */
export function hookCallOf(input: AdapterInput): PossibleCall {
  const record = fieldsOf(input.value);
  const isSpooled = typeof member(record, "receivedAt") === "string" && member(record, "payload") !== undefined;
  const payload = isSpooled ? objectIn(record, "payload") : record;
  const receivedAtMs = isSpooled ? parseTimestamp(member(record, "receivedAt") as string) : undefined;
  const event = wordIn(payload, "hook_event_name");
  const sessionId = identifierIn(payload, "session_id");
  return {
    input,
    observedAtMs: receivedAtMs ?? input.observedAtMs,
    ...(event === undefined ? undefined : { event }),
    ...(sessionId === undefined ? undefined : { sessionId }),
    agentId: identifierIn(payload, "agent_id"),
    agentType: wordIn(payload, "agent_type"),
    toolName: wordIn(payload, "tool_name"),
    toolUseId: identifierIn(payload, "tool_use_id"),
    payload,
  };
}

/**
 * Hooks that run at the same time reach the spool in any order; the shim stamps when each was started. Records without a
 * stamp stay where they are.
 */
export function inOrderOfStart(values: readonly unknown[]): readonly unknown[] {
  const stamps = values.map(stampOf);
  if (!stamps.every((stamp) => stamp !== undefined)) return values;
  return values
    .map((value, index) => ({ value, stamp: stamps[index] as bigint }))
    .toSorted((first, second) => (first.stamp < second.stamp ? -1 : first.stamp > second.stamp ? 1 : 0))
    .map(({ value }) => value);
}

/** Nanoseconds of a clock that only goes forward, since the machine's start. */
function stampOf(value: unknown): bigint | undefined {
  const order = member(fieldsOf(value), "order");
  return typeof order === "string" && /^\d{1,20}$/.test(order) ? BigInt(order) : undefined;
}
