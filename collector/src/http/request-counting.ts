import type { FastifyInstance } from "fastify";
import type { RequestOutcome, RequestTelemetry } from "../runtime/request-telemetry.ts";

/** Counts every request of a scope once, by how it ended. */
export function countRequests(scope: FastifyInstance, receiver: string, telemetry: RequestTelemetry): void {
  scope.addHook("onResponse", (request, reply, done) => {
    telemetry.countRequest(receiver, request.raw.complete || reply.sent ? outcomeOf(reply.statusCode) : "aborted");
    done();
  });
}

function outcomeOf(statusCode: number): RequestOutcome {
  if (statusCode < 400) return "accepted";
  if (statusCode === 408) return "aborted";
  if (statusCode < 500) return "rejected";
  return statusCode === 503 ? "overloaded" : "failed";
}
