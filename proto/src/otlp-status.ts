import protobuf from "protobufjs/minimal.js";
import { isJsonObject } from "./json.ts";
import { WireCursor } from "./otlp-wire.ts";

/** Canonical codes of google.rpc that an OTLP server answers with. */
export const RPC_CODES = {
  invalidArgument: 3,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** A member of the request that broke a rule. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** The body of every refusal (H11), and gRPC's `grpc-status-details-bin`. */
export interface RpcStatus {
  readonly code: number;
  readonly message: string;
  /** RetryInfo: when the client may come back. Only with a status that asks for a retry. */
  readonly retryDelayMs?: number;
  /** BadRequest. */
  readonly fieldViolations?: readonly FieldViolation[];
}

const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
const BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";

/** A google.rpc.Status in protobuf. */
export function encodeStatusProtobuf(status: RpcStatus): Uint8Array {
  const writer = protobuf.Writer.create().uint32(8).int32(status.code).uint32(18).string(status.message);
  if (status.retryDelayMs !== undefined) writeAny(writer, RETRY_INFO, retryInfo(status.retryDelayMs));
  if (status.fieldViolations !== undefined) writeAny(writer, BAD_REQUEST, badRequest(status.fieldViolations));
  return writer.finish();
}

function writeAny(writer: protobuf.Writer, typeUrl: string, value: Uint8Array): void {
  writer.uint32(26).fork().uint32(10).string(typeUrl).uint32(18).bytes(value).ldelim();
}

function retryInfo(delayMs: number): Uint8Array {
  const writer = protobuf.Writer.create()
    .uint32(10)
    .fork()
    .uint32(8)
    .int64(Math.floor(delayMs / 1000));
  return writer
    .uint32(16)
    .int32((delayMs % 1000) * 1_000_000)
    .ldelim()
    .finish();
}

function badRequest(violations: readonly FieldViolation[]): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const { field, description } of violations) {
    writer.uint32(10).fork().uint32(10).string(field).uint32(18).string(description).ldelim();
  }
  return writer.finish();
}

/** The same as JSON text. */
export function encodeStatusJson(status: RpcStatus): string {
  const details: unknown[] = [];
  if (status.retryDelayMs !== undefined)
    details.push({ "@type": RETRY_INFO, retryDelay: `${status.retryDelayMs / 1000}s` });
  if (status.fieldViolations !== undefined)
    details.push({ "@type": BAD_REQUEST, fieldViolations: status.fieldViolations });
  const { code, message } = status;
  return JSON.stringify(details.length === 0 ? { code, message } : { code, message, details });
}

/** What a client needs of a status: the code (0 when it is left out), the message, and when it may come back. */
export type DecodedStatus = Pick<RpcStatus, "code" | "message" | "retryDelayMs">;

/** Reads a status in protobuf; `undefined` when it is none. Details other than a RetryInfo are passed over. */
export function decodeStatusProtobuf(bytes: Uint8Array): DecodedStatus | undefined {
  try {
    const cursor = new WireCursor(bytes);
    let code = 0;
    let message = "";
    let retryDelayMs: number | undefined;
    while (cursor.position < bytes.length) {
      const tag = cursor.varint();
      if (tag === 8) code = cursor.int64();
      else if (tag === 26) retryDelayMs = decodeRetryInfo(cursor, cursor.enter(bytes.length)) ?? retryDelayMs;
      else if (tag === 18) {
        const end = cursor.enter(bytes.length);
        message = cursor.text(cursor.position, end);
      } else cursor.skip(tag);
    }
    return { code, message, ...(retryDelayMs === undefined ? undefined : { retryDelayMs }) };
  } catch {
    return undefined;
  }
}

/** The delay of an Any that is a RetryInfo; of any other, `undefined`. Leaves the cursor at its end. */
function decodeRetryInfo(cursor: WireCursor, end: number): number | undefined {
  let isRetryInfo = false;
  let delayMs: number | undefined;
  while (cursor.position < end) {
    const tag = cursor.varint();
    if (tag === 10) {
      const textEnd = cursor.enter(end);
      isRetryInfo = cursor.text(cursor.position, textEnd) === RETRY_INFO;
    } else if (tag === 18) {
      const valueEnd = cursor.enter(end);
      delayMs = isRetryInfo ? decodeDelay(cursor, valueEnd) : undefined;
      cursor.position = valueEnd;
    } else cursor.skip(tag);
  }
  return delayMs;
}

/** A RetryInfo with a Duration in it. */
function decodeDelay(cursor: WireCursor, end: number): number | undefined {
  let delayMs: number | undefined;
  while (cursor.position < end) {
    const tag = cursor.varint();
    if (tag !== 10) {
      cursor.skip(tag);
      continue;
    }
    const durationEnd = cursor.enter(end);
    delayMs = 0;
    while (cursor.position < durationEnd) {
      const field = cursor.varint();
      if (field === 8) delayMs += cursor.int64() * 1_000;
      else if (field === 16) delayMs += Math.floor(cursor.int64() / 1_000_000);
      else cursor.skip(field);
    }
  }
  return delayMs;
}

/** Reads a status from its parsed JSON; `undefined` when it is none. */
export function decodeStatusJson(value: unknown): DecodedStatus | undefined {
  if (!isJsonObject(value)) return undefined;
  const { code = 0, message = "" } = value;
  return typeof code === "number" && typeof message === "string" ? { code, message } : undefined;
}
