import { type DecodedLogs, decodeLogsJson, decodeLogsProtobuf } from "@agent-lifecycle/proto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { refuseOtherMethods } from "../http/allowed-methods.ts";
import type { ByteBudget } from "../http/byte-budget.ts";
import { registerPreflight } from "../http/cross-origin.ts";
import { HttpRefusal, refusalOf } from "../http/http-refusal.ts";
import { parseJsonBody } from "../http/json-body.ts";
import { type BodyLimits, readBody } from "../http/request-body.ts";
import { countRequests } from "../http/request-counting.ts";
import type { EventOutcome, Intake } from "../runtime/intake.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import { intakeRefusal } from "./intake-refusal.ts";
import { exportOutcomeOf, type OtlpEncoding, otlpEncodingOf, sendExportOutcome, sendStatus } from "./otlp-reply.ts";

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
    const { candidates, positions, foreign } = sortRecords(decode(body, encoding));
    const outcomes = await submit(intake, candidates, body.length);
    if (foreign > 0) intake.countForeign(RECEIVER, foreign);
    return sendExportOutcome(reply, encoding, exportOutcomeOf(outcomes, positions));
  } finally {
    lease.release();
  }
}

function decode(body: Buffer, encoding: OtlpEncoding): DecodedLogs & { readonly ok: true } {
  const decoded = encoding === "protobuf" ? decodeLogsProtobuf(body) : decodeLogsJson(parseJsonBody(body));
  if (!decoded.ok) throw new HttpRefusal("malformed", decoded.problem);
  return decoded;
}

interface SortedRecords {
  readonly candidates: readonly unknown[];
  /** Where each candidate stood among all records of the request. */
  readonly positions: readonly number[];
  readonly foreign: number;
}

function sortRecords({ records }: DecodedLogs & { readonly ok: true }): SortedRecords {
  const candidates: unknown[] = [];
  const positions: number[] = [];
  for (const [position, record] of records.entries()) {
    if (record.foreign) continue;
    candidates.push(record.candidate);
    positions.push(position);
  }
  return { candidates, positions, foreign: records.length - candidates.length };
}

async function submit(intake: Intake, candidates: readonly unknown[], bytes: number): Promise<readonly EventOutcome[]> {
  if (candidates.length === 0) return [];
  const result = await intake.acceptEvents(candidates, { receiver: RECEIVER, backfill: false, bytes });
  if (result.kind === "stored") return result.outcomes;
  throw intakeRefusal(result);
}
