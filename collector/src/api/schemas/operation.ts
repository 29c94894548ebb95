import type { FastifySchema } from "fastify";
import { type JsonSchema, named } from "./schema-terms.ts";

export interface Operation {
  /** Name that generated clients give it. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Name of the schema of a 200 answer. */
  readonly answer: string;
  readonly querystring?: JsonSchema;
  readonly params?: JsonSchema;
}

const PROBLEM = { content: { "application/problem+json": { schema: named("Problem") } } };

/** The schema of a route of the read API: what Fastify checks of the request, and what the document says of both. */
export function operation({
  operationId,
  summary,
  description,
  answer,
  querystring,
  params,
}: Operation): FastifySchema {
  return {
    operationId,
    summary,
    ...(description === undefined ? undefined : { description }),
    security: [{ bearer: ["read"] }],
    ...(querystring === undefined ? undefined : { querystring }),
    ...(params === undefined ? undefined : { params }),
    response: {
      200: {
        description: summary,
        headers: { etag: { type: "string", description: "Send it back as If-None-Match." } },
        content: { "application/json": { schema: named(answer) } },
      },
      304: { description: "Not changed since the ETag that was sent.", type: "null" },
      "4xx": { description: "Refused: what is wrong with the request.", ...PROBLEM },
      "5xx": { description: "Not answered; Retry-After says when to come again.", ...PROBLEM },
    },
  } as FastifySchema;
}
