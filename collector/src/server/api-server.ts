import type { ApiDependencies } from "../api/api-dependencies.ts";
import { type ApiOptions, registerApi } from "../api/register-api.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "../http/http-server.ts";
import { type IngestDependencies, type IngestOptions, registerIngestRoutes } from "./ingest-routes.ts";

/** The server that people and displays know, on port 8787 by default: board, API, stream, metrics; it takes evidence too. */
export async function createApiServer(
  dependencies: ApiDependencies & IngestDependencies,
  options: HttpServerOptions & IngestOptions & ApiOptions,
): Promise<HttpServer> {
  const server = createHttpServer(options);
  await registerApi(server.fastify, dependencies, options);
  await registerIngestRoutes(server.fastify, dependencies, options);
  return server;
}
