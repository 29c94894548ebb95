import { formatTimestamp, parseTimestamp } from "./timestamp.ts";

const TWO_TO_32 = 4_294_967_296;
const NANOSECONDS_PER_MS = 1_000_000;
const MS_IN_HIGH = Math.floor(TWO_TO_32 / NANOSECONDS_PER_MS);
const REST_IN_HIGH = TWO_TO_32 - MS_IN_HIGH * NANOSECONDS_PER_MS;
/** The latest millisecond that 64 bits of nanoseconds can say: in July 2554. */
const LATEST_MS = msFromUnixNano(TWO_TO_32 - 1, TWO_TO_32 - 1);

/**
 * Milliseconds since 1970 of a 64-bit count of nanoseconds given in two halves, cut below the millisecond. Every step
 * is exact in doubles.
 */
function msFromUnixNano(high: number, low: number): number {
  return high * MS_IN_HIGH + Math.floor((high * REST_IN_HIGH + low) / NANOSECONDS_PER_MS);
}

/** RFC 3339 text of a record's time in two halves of 32 bits; `undefined` for 0, which OTLP reads as unknown. */
export function timestampFromUnixNano(high: number, low: number): string | undefined {
  return high === 0 && low === 0 ? undefined : formatTimestamp(msFromUnixNano(high, low));
}

const DECIMAL = /^\d{1,20}$/;

/** The same for decimal text, as OTLP/JSON carries it; text that is no 64-bit count is `undefined`. */
export function timestampFromUnixNanoText(text: string): string | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const epochMs = Number(text.slice(0, -6));
  return epochMs > LATEST_MS || Number(text) === 0 ? undefined : formatTimestamp(epochMs);
}

/**
 * Nanoseconds since 1970 as decimal text.
 * @returns `"0"`, which OTLP reads as unknown, for a time before 1970 or after 2554.
 */
export function unixNanoText(epochMs: number): string {
  return epochMs > 0 && epochMs <= LATEST_MS ? `${epochMs}000000` : "0";
}

/** The same in two halves of 32 bits, for protobuf's fixed64. Every step is exact in doubles. */
export function unixNanoHalves(epochMs: number): { readonly high: number; readonly low: number } {
  if (epochMs <= 0 || epochMs > LATEST_MS) return UNKNOWN_TIME;
  const upper = Math.floor(epochMs / TWO_TO_16) * NANOSECONDS_PER_MS;
  const low = (upper % TWO_TO_16) * TWO_TO_16 + (epochMs % TWO_TO_16) * NANOSECONDS_PER_MS;
  return { high: Math.floor(upper / TWO_TO_16) + Math.floor(low / TWO_TO_32), low: low % TWO_TO_32 };
}

const TWO_TO_16 = 65_536;
const UNKNOWN_TIME = Object.freeze({ high: 0, low: 0 });

/** Whether a record's Timestamp can say this time: after 1970-01-01T00:00:00Z (0 means unknown) and until 2554. */
export function isTimestampRepresentableInOtlp(timestamp: string): boolean {
  const epochMs = parseTimestamp(timestamp);
  return epochMs !== undefined && epochMs > 0 && epochMs <= LATEST_MS;
}
