import { decodeExportResponseJson, decodeExportResponseProtobuf, decodeStatusProtobuf } from "@agent-lifecycle/proto";
import type { SendOutcome } from "./send-outcome.ts";

export interface HttpAnswer {
  readonly code: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
}

/** Too early, too many, and a gateway or server that will be back. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
/** Malformed, too large, or against the rules of the destination: Loki's answers to what is too old are among them. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);
const MAX_REASON_LENGTH = 300;

/**
 * Reads a destination's answer. Back ends do not all answer as OTLP says: Loki answers 204 with nothing, Prometheus 200
 * with nothing and errors as text. What is no decodable answer to a request that was taken is no failure of it.
 *
 * OTLP calls every other failure final too. It is not taken so where the configuration is to blame (401, 404, a redirect):
 * nothing would be gained by losing what is stored while somebody corrects it.
 */
export function outcomeOfHttp(answer: HttpAnswer, nowMs: number): SendOutcome {
  const { code } = answer;
  if (code >= 200 && code < 300) return taken(answer);
  const reason = `HTTP ${code}${messageOf(answer)}`;
  if (REFUSED.has(code)) return { kind: "refused", reason };
  if (code >= 500 && !LATER.has(code)) return { kind: "failed", reason };
  const afterMs = parseRetryAfter(answer.retryAfter, nowMs);
  // "At once" is no wish to keep to for as long as an outage lasts: the waits grow all the same.
  return { kind: "later", reason, ...(afterMs === undefined || afterMs === 0 ? undefined : { afterMs }) };
}

function taken({ contentType, body }: HttpAnswer): SendOutcome {
  if (body.byteLength === 0) return { kind: "taken", rejected: 0, message: "" };
  const isJson = contentType.startsWith("application/json");
  const isProtobuf = contentType.startsWith("application/x-protobuf");
  const response = isJson
    ? decodeExportResponseJson(parsed(body))
    : isProtobuf
      ? decodeExportResponseProtobuf(body)
      : undefined;
  // The counts of rejected log records, spans and data points have the same field of the same message.
  return { kind: "taken", rejected: response?.rejectedLogRecords ?? 0, message: response?.errorMessage ?? "" };
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

function messageOf({ contentType, body }: HttpAnswer): string {
  if (body.byteLength === 0) return "";
  const isText = /^(?:text\/|application\/json)/.test(contentType);
  const text = isText ? new TextDecoder().decode(body) : decodeStatusProtobuf(body)?.message;
  const line = text?.split("\n", 1)[0]?.trim() ?? "";
  return line === "" ? "" : `: ${line.slice(0, MAX_REASON_LENGTH)}`;
}

/** `Retry-After` in milliseconds from now: whole seconds or an HTTP date. Anything else is not understood. */
function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(date - nowMs, 0);
}
