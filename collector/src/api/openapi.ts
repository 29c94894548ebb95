import swagger, { type FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { ANSWER_SCHEMAS } from "./schemas/answer-schemas.ts";
import { CHILD_SCHEMAS } from "./schemas/child-schemas.ts";

/** Every schema that answers consist of, by name. */
const API_SCHEMAS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ...CHILD_SCHEMAS,
  ...ANSWER_SCHEMAS,
};

const DESCRIPTION = `What every delegated child agent is doing, and how we know. Rows come from the projection and from nothing
else; all times are RFC 3339 in UTC; listings are paged by an opaque cursor; refusals are problem documents (RFC 9457).`;

const OPTIONS: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: "3.1.0",
    info: {
      title: "agent-lifecycle",
      version: "1",
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This collector" }],
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "A token of the scope read; without configured tokens everybody on the loopback may read.",
        },
      },
    },
  },
  refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json["$id"] ?? `def-${index}`) },
  // Only what is documented is part of the API: not the board's files, not the answers to wrong methods.
  transform: ({ schema, url }) => ({ schema: { ...schema, hide: schema?.operationId === undefined }, url }),
};

/**
 * Collects the schemas of all routes that are registered after it, and serves them as `/api/openapi.json`. The document is
 * made of the schemas that requests are checked by; answers are held against theirs by tests and not on the way out.
 */
export async function registerOpenApi(server: FastifyInstance): Promise<void> {
  await server.register(swagger, OPTIONS);
  for (const [name, schema] of Object.entries(API_SCHEMAS)) server.addSchema({ $id: name, ...schema });
  server.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  let text: string | undefined;
  server.get("/api/openapi.json", (_request, reply) => {
    text ??= JSON.stringify(server.swagger());
    return reply
      .header("content-type", "application/json; charset=utf-8")
      .header("cache-control", "no-cache")
      .send(text);
  });
}
