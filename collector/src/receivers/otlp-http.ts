import { type DecodedLogs, decodeLogsJson, decodeLogsProtobuf } from "@agent-lifecycle/proto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { refuseOtherMethods } from "../http/allowed-methods.ts";
import type { ByteBudget } from "../http/byte-budget.ts";
import { registerPreflight } from "../http/cross-origin.ts";
import { HttpRefusal, refusalOf } from "../http/http-refusal.ts";
import { parseJsonBody } from "../http/json-body.ts";
import { type BodyLimits, readBody } from "../http/request-body.ts";
import { countRequests } from "../http/request-counting.ts";
import { sourcesAllowedTo } from "../http/require-scope.ts";
import type { Intake } from "../runtime/intake.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import { exportLogs } from "./otlp-export.ts";
import { type OtlpEncoding, otlpEncodingOf, sendExportOutcome, sendStatus } from "./otlp-reply.ts";

const RECEIVER = "otlp_http";
const LOGS = "/v1/logs";
/** Signals that OTLP has and this collector does not take; a sender that is told 404 does not try again. */
const OTHER_SIGNALS = ["/v1/traces", "/v1/metrics", "/v1development/profiles"] as const;

export interface OtlpHttpOptions {
  readonly intake: Intake;
  readonly limits: BodyLimits;
  readonly budget: ByteBudget;
  readonly telemetry: RequestTelemetry;
  /** Whether web pages of allowed origins may post; then preflights are answered. */
  readonly crossOrigin: boolean;
  readonly onError: (error: unknown) => void;
}

/**
 * OTLP/HTTP for logs (H1–H23). A request is answered when what it brought is durable. Records of other origin are
 * accepted and counted, and nothing of them is kept; records that break the contract are refused through partial
 * success. Traces, metrics and profiles are answered 404.
 */
export async function registerOtlpHttp(scope: FastifyInstance, options: OtlpHttpOptions): Promise<void> {
  countRequests(scope, RECEIVER, options.telemetry);
  scope.setErrorHandler((error, request, reply) => sendStatus(request, reply, refusalOf(error, options.onError)));
  if (options.crossOrigin) registerPreflight(scope, LOGS);
  refuseOtherMethods(scope, LOGS, options.crossOrigin ? ["POST", "OPTIONS"] : ["POST"]);
  scope.post(LOGS, (request, reply) => receiveLogs(request, reply, options));
  for (const url of OTHER_SIGNALS) {
    refuseOtherMethods(scope, url, ["POST"]);
    scope.post(url, () => {
      throw new HttpRefusal("not_found", "this collector takes logs only");
    });
  }
}

async function receiveLogs(
  request: FastifyRequest,
  reply: FastifyReply,
  { intake, limits, budget }: OtlpHttpOptions,
): Promise<FastifyReply> {
  const encoding = otlpEncodingOf(request);
  if (encoding === undefined) {
    throw new HttpRefusal("unsupported_media", "logs come as application/x-protobuf or application/json");
  }
  const lease = budget.open();
  try {
    const body = await readBody(request.raw, limits, lease);
    const outcome = await exportLogs(() => decode(body, encoding), intake, {
      receiver: RECEIVER,
      backfill: false,
      bytes: body.length,
      ...sourcesAllowedTo(request),
    });
    return sendExportOutcome(reply, encoding, outcome);
  } finally {
    lease.release();
  }
}

function decode(body: Buffer, encoding: OtlpEncoding): DecodedLogs {
  return encoding === "protobuf" ? decodeLogsProtobuf(body) : decodeLogsJson(parseJsonBody(body));
}
