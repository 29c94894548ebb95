import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseOtherMethods } from "../http/allowed-methods.ts";
import { registerPreflight } from "../http/cross-origin.ts";
import { HttpRefusal, refusalOf } from "../http/http-refusal.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import { sendProblem } from "../http/problem-reply.ts";
import { type BodyLimits, bodyChunks } from "../http/request-body.ts";
import { countRequests } from "../http/request-counting.ts";
import { sourcesAllowedTo } from "../http/require-scope.ts";
import type { Intake } from "../runtime/intake.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import { intakeRefusal } from "./intake-refusal.ts";
import { JsonlSubmission, type JsonlTally } from "./jsonl-submission.ts";

const RECEIVER = "jsonl_http";
const EVENTS = "/v1/lifecycle/events";

const MEDIA_TYPES: ReadonlySet<string | undefined> = new Set([
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/json",
]);

export interface JsonlHttpOptions {
  readonly intake: Intake;
  /** A body is read line by line and never held: it may be far larger than one that is. */
  readonly limits: BodyLimits;
  readonly maxLineBytes?: number;
  readonly telemetry: RequestTelemetry;
  readonly crossOrigin: boolean;
  readonly onError: (error: unknown) => void;
}

interface EventsRoute {
  readonly Querystring: { readonly backfill?: boolean };
}

/**
 * `POST /v1/lifecycle/events`: one event per line, stored as they stream in, at the store's pace. Answers the tally when
 * the last one is durable. A refusal in between carries the tally of what was stored until then: sending everything
 * again is safe, what was stored is recognized. `?backfill=true` marks old evidence.
 */
export async function registerJsonlHttp(scope: FastifyInstance, options: JsonlHttpOptions): Promise<void> {
  countRequests(scope, RECEIVER, options.telemetry);
  scope.setErrorHandler((error, _request, reply) => sendProblem(reply, refusalOf(error, options.onError)));
  if (options.crossOrigin) registerPreflight(scope, EVENTS);
  refuseOtherMethods(scope, EVENTS, options.crossOrigin ? ["POST", "OPTIONS"] : ["POST"]);
  const querystring = { type: "object", properties: { backfill: { type: "boolean" } }, additionalProperties: false };
  scope.post<EventsRoute>(EVENTS, { schema: { querystring } }, (request) =>
    receiveEvents(request, request.query.backfill ?? false, options),
  );
}

async function receiveEvents(
  request: Pick<FastifyRequest, "headers" | "raw">,
  backfill: boolean,
  options: JsonlHttpOptions,
): Promise<JsonlTally> {
  if (!MEDIA_TYPES.has(mediaTypeOf(request.headers["content-type"]))) {
    throw new HttpRefusal("unsupported_media", "events come as application/x-ndjson, one per line");
  }
  const { intake, limits, maxLineBytes } = options;
  const submission = new JsonlSubmission({
    intake,
    receiver: RECEIVER,
    backfill,
    ...sourcesAllowedTo(request),
    ...(maxLineBytes === undefined ? undefined : { maxLineBytes }),
    onRefusal: async (refusal) => {
      throw intakeRefusal(refusal);
    },
  });
  try {
    for await (const chunk of bodyChunks(request.raw, limits)) await submission.push(chunk);
    await submission.end();
  } catch (error) {
    await submission.settle().catch(() => {});
    throw withTally(refusalOf(error, options.onError), submission.tally);
  }
  return submission.tally;
}

function withTally({ reason, message, headers }: HttpRefusal, tally: JsonlTally): HttpRefusal {
  return new HttpRefusal(reason, message, { headers, members: { ...tally } });
}
