import { isJsonObject, type JsonValue } from "./json.ts";
import { MAX_ACTIVITY_LENGTH, MAX_DETAIL_TEXT_LENGTH, MAX_IDENTIFIER_LENGTH } from "./limits.ts";
import { parseTimestamp } from "./timestamp.ts";

export const WAITING_KINDS = ["user", "permission", "auth", "child", "tool", "provider_retry", "other"] as const;

export type WaitingKind = (typeof WAITING_KINDS)[number];

/** What a waiting child waits on. */
export interface WaitingOn {
  readonly kind: WaitingKind;
  readonly childId?: string;
  readonly text?: string;
}

/** What a child has used so far, as its source counts it. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
  readonly toolCalls?: number;
}

/** The members of `details` whose meaning is agreed (N4). They describe; they are never identity or state. */
export interface ReservedDetails {
  readonly name?: string;
  readonly agentType?: string;
  readonly model?: string;
  /** Where the child's calls are routed, in the words of whoever routes them. Nothing is decided by it. */
  readonly routingProfile?: string;
  readonly tool?: string;
  readonly waitingOn?: WaitingOn;
  /** Why it ended, a short word: `timeout`, `rejected`. */
  readonly cause?: string;
  readonly exitCode?: number;
  readonly signal?: string;
  /** The source implied this observation and did not report it. */
  readonly inferred?: true;
  readonly usage?: Usage;
  /** A reference, never content. */
  readonly transcriptRef?: string;
  /** A reference, never content. */
  readonly resultRef?: string;
  readonly pid?: number;
  readonly host?: string;
  /** RFC 3339 UTC. A request changes no state (D5). */
  readonly cancelRequestedAt?: string;
}

type Check = (value: JsonValue) => boolean;

const text =
  (longest: number): Check =>
  (value) =>
    typeof value === "string" && value.length > 0 && value.length <= longest;

const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const amount: Check = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;

const USAGE_CHECKS: ReadonlyMap<string, Check> = new Map([
  ["inputTokens", count],
  ["outputTokens", count],
  ["costUsd", amount],
  ["toolCalls", count],
]);

const WAITING_CHECKS: ReadonlyMap<string, Check> = new Map([
  ["kind", (value: JsonValue) => (WAITING_KINDS as readonly JsonValue[]).includes(value)],
  ["childId", text(MAX_IDENTIFIER_LENGTH)],
  ["text", text(MAX_ACTIVITY_LENGTH)],
]);

const CHECKS: ReadonlyMap<string, Check> = new Map([
  ["name", text(MAX_DETAIL_TEXT_LENGTH)],
  ["agentType", text(MAX_DETAIL_TEXT_LENGTH)],
  ["model", text(MAX_DETAIL_TEXT_LENGTH)],
  ["routingProfile", text(MAX_DETAIL_TEXT_LENGTH)],
  ["tool", text(MAX_DETAIL_TEXT_LENGTH)],
  ["cause", text(MAX_DETAIL_TEXT_LENGTH)],
  ["exitCode", (value: JsonValue) => Number.isSafeInteger(value)],
  ["signal", text(32)],
  ["inferred", (value: JsonValue) => value === true],
  ["transcriptRef", text(MAX_ACTIVITY_LENGTH)],
  ["resultRef", text(MAX_ACTIVITY_LENGTH)],
  ["pid", (value: JsonValue) => Number.isSafeInteger(value) && (value as number) > 0],
  ["host", text(MAX_DETAIL_TEXT_LENGTH)],
  ["cancelRequestedAt", (value: JsonValue) => typeof value === "string" && parseTimestamp(value) !== undefined],
]);

/**
 * Whether a member of `details` may stand. Members that are not reserved always may.
 * @returns the dotted path of what is wrong, or `undefined`.
 */
export function checkReservedMember(name: string, value: JsonValue): string | undefined {
  if (name === "usage") return checkObject(name, value, USAGE_CHECKS, []);
  if (name === "waitingOn") return checkObject(name, value, WAITING_CHECKS, ["kind"]);
  const check = CHECKS.get(name);
  return check === undefined || check(value) ? undefined : name;
}

function checkObject(
  name: string,
  value: JsonValue,
  checks: ReadonlyMap<string, Check>,
  required: readonly string[],
): string | undefined {
  if (!isJsonObject(value)) return name;
  for (const member of required) if (!Object.hasOwn(value, member)) return `${name}.${member}`;
  for (const [member, check] of checks) {
    if (Object.hasOwn(value, member) && !check(value[member] as JsonValue)) return `${name}.${member}`;
  }
  return undefined;
}
