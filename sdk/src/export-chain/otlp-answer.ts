import type { DeliveryOutcome } from "./delivery-outcome.ts";

/** The part of an OTLP answer that says which records of a request were not kept. */
export interface PartialSuccess {
  /** A number, or a decimal text as OTLP/JSON writes 64-bit integers. */
  readonly rejectedLogRecords?: number | string | undefined;
  readonly errorMessage?: string | undefined;
}

export interface OtlpAnswer {
  readonly code: number;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
}

/** The codes that OTLP/HTTP calls retryable; any other failure is final. */
export const RETRYABLE_CODES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const TOO_LARGE = 413;

/** Reads an endpoint's answer to a batch of `sent` records. An answer that cannot be read is no failure of the batch. */
export function outcomeOfAnswer(
  answer: OtlpAnswer,
  decode: (body: Uint8Array) => PartialSuccess | null | undefined,
  sent: number,
  nowMs: number,
): DeliveryOutcome {
  if (answer.code >= 200 && answer.code < 300) return delivered(answer.body, decode, sent);
  const problem = `HTTP ${answer.code}`;
  if (!RETRYABLE_CODES.has(answer.code)) return { status: "refused", problem, isTooLarge: answer.code === TOO_LARGE };
  const retryAfterMs = parseRetryAfter(answer.retryAfter, nowMs);
  return { status: "busy", problem, ...(retryAfterMs === undefined ? undefined : { retryAfterMs }) };
}

function delivered(
  body: Uint8Array,
  decode: (body: Uint8Array) => PartialSuccess | null | undefined,
  sent: number,
): DeliveryOutcome {
  let partial: PartialSuccess | null | undefined;
  try {
    partial = body.byteLength === 0 ? undefined : decode(body);
  } catch {
    partial = undefined;
  }
  const stated = Number(partial?.rejectedLogRecords ?? 0);
  const rejected = Number.isFinite(stated) ? Math.min(Math.max(Math.trunc(stated), 0), sent) : 0;
  const message = partial?.errorMessage;
  return {
    status: "delivered",
    rejected,
    ...(typeof message === "string" && message !== "" ? { message } : undefined),
  };
}

/** `Retry-After` in milliseconds from now: whole seconds or an HTTP date. Anything else is not understood. */
function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(date - nowMs, 0);
}
