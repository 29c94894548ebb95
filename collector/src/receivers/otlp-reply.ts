import {
  type ExportOutcome,
  encodeExportResponseJson,
  encodeExportResponseProtobuf,
  encodeStatusJson,
  encodeStatusProtobuf,
} from "@agent-lifecycle/proto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpRefusal } from "../http/http-refusal.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import type { RefusalDocument } from "../http/problem-reply.ts";
import { rpcStatusOf } from "./otlp-export.ts";

export type OtlpEncoding = "protobuf" | "json";

const MEDIA_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

/** The encoding a request is in, by its `Content-Type`; parameters do not matter. */
export function otlpEncodingOf(request: FastifyRequest): OtlpEncoding | undefined {
  const mediaType = mediaTypeOf(request.headers["content-type"]);
  if (mediaType === MEDIA_TYPES.protobuf) return "protobuf";
  return mediaType === MEDIA_TYPES.json ? "json" : undefined;
}

export function sendExportOutcome(reply: FastifyReply, encoding: OtlpEncoding, outcome: ExportOutcome): FastifyReply {
  const body = encoding === "protobuf" ? encodeExportResponseProtobuf(outcome) : encodeExportResponseJson(outcome);
  return send(reply.code(200), encoding, body);
}

/** A refusal as google.rpc.Status in the request's own encoding (H11); in JSON where that is unknown. */
export function sendStatus(request: FastifyRequest, reply: FastifyReply, refusal: HttpRefusal): FastifyReply {
  const encoding = otlpEncodingOf(request) ?? "json";
  const status = rpcStatusOf(refusal);
  const body = encoding === "protobuf" ? encodeStatusProtobuf(status) : encodeStatusJson(status);
  return send(reply.code(refusal.statusCode).headers(refusal.headers), encoding, body);
}

/** A refusal as google.rpc.Status for somebody of whom no request could be read. */
export function statusDocument(refusal: HttpRefusal): RefusalDocument {
  return { contentType: MEDIA_TYPES.json, body: encodeStatusJson(rpcStatusOf(refusal)) };
}

// As bytes: for a text the framework would add a charset, and H3 asks for the request's own type.
function send(reply: FastifyReply, encoding: OtlpEncoding, body: Uint8Array | string): FastifyReply {
  return reply.header("content-type", MEDIA_TYPES[encoding]).send(Buffer.from(body as Uint8Array));
}
