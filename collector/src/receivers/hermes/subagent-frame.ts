import { codePointLength, isJsonObject, MAX_IDENTIFIER_LENGTH } from "@agent-lifecycle/proto";
import type { GatewayEvent } from "./gateway-frame.ts";

const SUBAGENT_EVENTS = [
  "subagent.spawn_requested",
  "subagent.start",
  "subagent.thinking",
  "subagent.tool",
  "subagent.progress",
  "subagent.complete",
] as const;

export type SubagentEventType = (typeof SUBAGENT_EVENTS)[number];

/** What a frame or a row says of a child. Members that it leaves out are absent: the gateway omits what is empty. */
export interface SubagentFacts {
  readonly childId: string;
  readonly parentChildId?: string;
  /** 0 for a child of the session's own agent. */
  readonly depth?: number;
  /** The task in the words of whoever delegated it. */
  readonly goal?: string;
  readonly model?: string;
  readonly routingProfile?: string;
  readonly tool?: string;
  readonly delegationId?: string;
  readonly childSessionId?: string;
  readonly taskIndex?: number;
  readonly taskCount?: number;
  readonly toolCalls?: number;
  /** The gateway's own word. */
  readonly status?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  readonly modelCalls?: number;
  readonly costUsd?: number;
  readonly durationSeconds?: number;
  /** How many files were named; the gateway names at most 40. */
  readonly filesRead?: number;
  readonly filesWritten?: number;
}

export interface SubagentFrame {
  readonly type: SubagentEventType;
  readonly sessionId: string | undefined;
  readonly sequence: number | undefined;
  readonly facts: SubagentFacts;
}

export type SubagentReading =
  | { readonly kind: "frame"; readonly frame: SubagentFrame }
  /** Not about a child: messages, tools of the session's own agent, broadcasts. */
  | { readonly kind: "unrelated" }
  | { readonly kind: "unusable"; readonly reason: string };

/** Reads what an event says of a child, if it speaks of one. What has the wrong type counts as not said. */
export function readSubagentFrame(event: GatewayEvent): SubagentReading {
  if (!event.type.startsWith("subagent.")) return { kind: "unrelated" };
  const type = SUBAGENT_EVENTS.find((known) => known === event.type);
  // The words of a child's answer, and whatever later builds add: nothing about its life.
  if (type === undefined) return { kind: "unrelated" };
  const facts = readSubagentFacts(event.payload);
  if (facts === undefined) return { kind: "unusable", reason: `${type} names no subagent_id` };
  return { kind: "frame", frame: { type, sessionId: event.sessionId, sequence: event.sequence, facts } };
}

/** Reads a payload or a row of `delegation.status`; `undefined` when it names no child that could be one of ours. */
export function readSubagentFacts(raw: unknown): SubagentFacts | undefined {
  if (!isJsonObject(raw)) return undefined;
  const childId = identifier(raw["subagent_id"]);
  if (childId === undefined) return undefined;
  return {
    childId,
    ...said("parentChildId", parentOf(raw["parent_id"], childId)),
    ...said("depth", count(raw["depth"])),
    ...said("goal", text(raw["goal"])),
    ...said("model", text(raw["model"])),
    ...said("routingProfile", text(raw["routing_profile"]) ?? text(raw["profile"])),
    ...said("tool", text(raw["tool_name"]) ?? text(raw["last_tool"])),
    ...said("delegationId", text(raw["delegation_id"])),
    ...said("childSessionId", text(raw["child_session_id"])),
    ...said("taskIndex", count(raw["task_index"])),
    ...said("taskCount", count(raw["task_count"])),
    ...said("toolCalls", count(raw["tool_count"])),
    ...said("status", text(raw["status"])),
    ...said("inputTokens", count(raw["input_tokens"])),
    ...said("outputTokens", count(raw["output_tokens"])),
    ...said("reasoningTokens", count(raw["reasoning_tokens"])),
    ...said("modelCalls", count(raw["api_calls"])),
    ...said("costUsd", amount(raw["cost_usd"])),
    ...said("durationSeconds", amount(raw["duration_seconds"])),
    ...said("filesRead", length(raw["files_read"])),
    ...said("filesWritten", length(raw["files_written"])),
  };
}

function said<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in Name]: Value });
}

/** Whether a row names a child that the contract has no room for: nobody that we know is meant. */
export function namesNobodyKnown(raw: unknown): boolean {
  const named = isJsonObject(raw) ? text(raw["subagent_id"]) : undefined;
  return named !== undefined && identifier(named) === undefined;
}

/** Longer names are none (contract section 2). */
function identifier(value: unknown): string | undefined {
  const name = text(value);
  return name === undefined || codePointLength(name) > MAX_IDENTIFIER_LENGTH ? undefined : name;
}

/** A child that is called its own parent has none that we could believe (N2). */
function parentOf(value: unknown, childId: string): string | undefined {
  const parent = identifier(value);
  return parent === childId ? undefined : parent;
}

function text(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const trimmed = value.trim();
  return trimmed === "" ? undefined : trimmed;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function amount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function length(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}
