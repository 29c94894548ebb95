import {
  type ExportOutcome,
  encodeExportResponseJson,
  encodeExportResponseProtobuf,
  encodeStatusJson,
  encodeStatusProtobuf,
  FULL_SUCCESS,
  type RpcStatus,
} from "@agent-lifecycle/proto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpRefusal } from "../http/http-refusal.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import { type EventOutcome, refusedFor } from "../runtime/intake.ts";

export type OtlpEncoding = "protobuf" | "json";

const MEDIA_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

/** Records named one by one in the message of a partial success. */
const MAX_NAMED_RECORDS = 5;

/** The encoding a request is in, by its `Content-Type`; parameters do not matter. */
export function otlpEncodingOf(request: FastifyRequest): OtlpEncoding | undefined {
  const mediaType = mediaTypeOf(request.headers["content-type"]);
  if (mediaType === MEDIA_TYPES.protobuf) return "protobuf";
  return mediaType === MEDIA_TYPES.json ? "json" : undefined;
}

/**
 * What a request came to (H9). Only a record that breaks the contract is rejected: all others are kept, whatever they
 * turned out to be, and are not to be sent again.
 */
export function exportOutcomeOf(outcomes: readonly EventOutcome[], positions: readonly number[]): ExportOutcome {
  let rejectedLogRecords = 0;
  const named: string[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const broken = refusedFor(outcome);
    if (broken === undefined) continue;
    rejectedLogRecords += 1;
    if (named.length < MAX_NAMED_RECORDS) {
      named.push(`record ${positions[index]}: ${broken.path || "the record"} ${broken.text ?? "breaks the contract"}`);
    }
  }
  if (rejectedLogRecords === 0) return FULL_SUCCESS;
  const further = rejectedLogRecords > named.length ? `; and ${rejectedLogRecords - named.length} more` : "";
  return { rejectedLogRecords, errorMessage: `invalid_event: ${named.join("; ")}${further}` };
}

export function sendExportOutcome(reply: FastifyReply, encoding: OtlpEncoding, outcome: ExportOutcome): FastifyReply {
  const body = encoding === "protobuf" ? encodeExportResponseProtobuf(outcome) : encodeExportResponseJson(outcome);
  return send(reply.code(200), encoding, body);
}

/** A refusal as google.rpc.Status in the request's own encoding (H11); in JSON where that is unknown. */
export function sendStatus(request: FastifyRequest, reply: FastifyReply, refusal: HttpRefusal): FastifyReply {
  const encoding = otlpEncodingOf(request) ?? "json";
  const status = statusOf(refusal);
  const body = encoding === "protobuf" ? encodeStatusProtobuf(status) : encodeStatusJson(status);
  return send(reply.code(refusal.statusCode).headers(refusal.headers), encoding, body);
}

function statusOf({ reason, rpcCode: code, message, headers }: HttpRefusal): RpcStatus {
  const retryAfterSeconds = headers["retry-after"];
  if (retryAfterSeconds !== undefined) return { code, message, retryDelayMs: Number(retryAfterSeconds) * 1000 };
  return reason === "malformed"
    ? { code, message, fieldViolations: [{ field: "body", description: message }] }
    : { code, message };
}

// As bytes: for a text the framework would add a charset, and H3 asks for the request's own type.
function send(reply: FastifyReply, encoding: OtlpEncoding, body: Uint8Array | string): FastifyReply {
  return reply.header("content-type", MEDIA_TYPES[encoding]).send(Buffer.from(body as Uint8Array));
}
