import type { FastifyReply } from "fastify";
import type { HttpRefusal } from "./http-refusal.ts";

const PROBLEM_JSON = "application/problem+json";

/** Answers with a problem document (RFC 9457). */
export function sendProblem(reply: FastifyReply, refusal: HttpRefusal): FastifyReply {
  const { statusCode, title, message, members, headers } = refusal;
  const problem = { type: "about:blank", title, status: statusCode, detail: message, ...members };
  return reply
    .code(statusCode)
    .headers(headers)
    .header("content-type", PROBLEM_JSON)
    .send(Buffer.from(JSON.stringify(problem)));
}
