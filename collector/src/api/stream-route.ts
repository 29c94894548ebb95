import type { FastifyInstance } from "fastify";
import { HttpRefusal, retryLater } from "../http/http-refusal.ts";
import { SECURITY_HEADERS } from "../http/security-headers.ts";
import type { UpdateStream } from "./update-stream.ts";

const STREAM_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { after: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
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
 * were missed and the children are to be listed again. Resumes after `Last-Event-ID` or `?after=`; ids are input ids.
 */
export async function registerStreamRoute(scope: FastifyInstance, stream: UpdateStream): Promise<void> {
  // Streams never end by themselves: a server that closes must end them first, or it would wait for them.
  scope.addHook("preClose", async () => stream.close());
  scope.get<{ Querystring: { readonly after?: number } }>(
    "/stream",
    { schema: { querystring: STREAM_QUERY }, exposeHeadRoute: false },
    (request, reply) => {
      const after = resumePosition(request.headers["last-event-id"]) ?? request.query.after;
      if (stream.isFull) throw retryLater("overloaded", "too many streams are open", 2);
      if (!stream.canResume(after)) {
        throw retryLater("unavailable", "the store takes no writes: what changed meanwhile cannot be told yet", 2);
      }
      reply.hijack();
      reply.raw.writeHead(200, STREAM_HEADERS);
      stream.open(reply.raw, after);
    },
  );
}

function resumePosition(lastEventId: string | string[] | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  const position = Number(lastEventId);
  if (Number.isSafeInteger(position) && position >= 0) return position;
  throw new HttpRefusal("malformed", "Last-Event-ID is none of this stream's ids");
}
