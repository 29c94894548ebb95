import type { FastifyReply } from "fastify";
import type { HttpRefusal } from "./http-refusal.ts";

const PROBLEM_JSON = "application/problem+json";

/** What a refusal says, in the form that a surface has for it. */
export interface RefusalDocument {
  readonly contentType: string;
  readonly body: string;
}

/** A refusal as a problem document (RFC 9457). */
export function problemDocument({ statusCode, title, message, members }: HttpRefusal): RefusalDocument {
  const problem = { type: "about:blank", title, status: statusCode, detail: message, ...members };
  return { contentType: PROBLEM_JSON, body: JSON.stringify(problem) };
}

/** Answers with a problem document. */
export function sendProblem(reply: FastifyReply, refusal: HttpRefusal): FastifyReply {
  const { contentType, body } = problemDocument(refusal);
  return reply
    .code(refusal.statusCode)
    .headers(refusal.headers)
    .header("content-type", contentType)
    .send(Buffer.from(body));
}
