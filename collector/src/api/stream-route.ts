import type { FastifyInstance } from "fastify";
import { HttpRefusal, retryLater } from "../http/http-refusal.ts";
import { remainsAllowed } from "../http/require-scope.ts";
import { SECURITY_HEADERS } from "../http/security-headers.ts";
import type { AccessControl } from "../security/access-control.ts";
import { named } from "./schemas/schema-terms.ts";
import type { UpdateStream } from "./update-stream.ts";

const PROBLEM = { content: { "application/problem+json": { schema: named("Problem") } } };

const STREAM = {
  operationId: "streamChanges",
  summary: "Changes as they are stored, as server-sent events",
  description: [
    "`child`: a Child that changed, the newest of each. `summary`: the Summary, after every change. `resync`: changes were",
    "missed (a Resync); list the children again, what follows comes after its position. A comment every 15 s is a sign of",
    "life. The id of an event says that everything up to that input was sent: come back with it as `Last-Event-ID` or",
    "`after`. Begin with the position of a listing and nothing is missed between the two.",
  ].join(" "),
  security: [{ bearer: ["read"] }],
  querystring: {
    type: "object",
    additionalProperties: false,
    properties: {
      after: {
        type: "integer",
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Id of the last input that is known already; without it the stream begins with now.",
      },
    },
  },
  headers: {
    type: "object",
    properties: { "last-event-id": { type: "string", description: "As `after`, and it goes before it." } },
  },
  response: {
    200: {
      description: "Server-sent events; each one's data is one of these.",
      content: {
        "text/event-stream": { schema: { anyOf: [named("Child"), named("Summary"), named("Resync")] } },
      },
    },
    "4xx": { description: "Refused: what is wrong with the request.", ...PROBLEM },
    "5xx": { description: "Not answered; Retry-After says when to come again.", ...PROBLEM },
  },
};

const STREAM_HEADERS = {
  ...SECURITY_HEADERS,
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Some proxies would hold events back to fill a buffer.
  "x-accel-buffering": "no",
};

/**
 * `/api/v1/stream`: server-sent events. `child` carries a ChildView, `summary` a SummaryView, `resync` says that changes
 * were missed and the children are to be listed again. Resumes after `Last-Event-ID` or `?after=`; ids are input ids. Ends
 * within a sign of life after its credentials were taken away.
 */
export async function registerStreamRoute(
  scope: FastifyInstance,
  stream: UpdateStream,
  access: AccessControl,
): Promise<void> {
  // Streams never end by themselves: a server that closes must end them first, or it would wait for them.
  scope.addHook("preClose", async () => stream.close());
  scope.get<{ Querystring: { readonly after?: number } }>(
    "/stream",
    { schema: STREAM, exposeHeadRoute: false },
    (request, reply) => {
      const after = resumePosition(request.headers["last-event-id"]) ?? request.query.after;
      if (stream.isFull) throw retryLater("overloaded", "too many streams are open", 2);
      if (!stream.canResume(after)) {
        throw retryLater("unavailable", "the store takes no writes: what changed meanwhile cannot be told yet", 2);
      }
      reply.hijack();
      reply.raw.writeHead(200, STREAM_HEADERS);
      stream.open(reply.raw, after, remainsAllowed(access, "read", request));
    },
  );
}

function resumePosition(lastEventId: string | string[] | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  const position = Number(lastEventId);
  if (Number.isSafeInteger(position) && position >= 0) return position;
  throw new HttpRefusal("malformed", "Last-Event-ID is none of this stream's ids");
}
