import { createHttpServer, type HttpServer, type HttpServerOptions } from "../http/http-server.ts";
import { sendStatus, statusDocument } from "../receivers/otlp-reply.ts";
import { type IngestDependencies, type IngestOptions, registerIngestRoutes } from "./ingest-routes.ts";

/** The server that senders of telemetry know: OTLP/HTTP on its usual port 4318, and the other ingest routes. */
export async function createIngestServer(
  dependencies: IngestDependencies,
  options: HttpServerOptions & IngestOptions,
): Promise<HttpServer> {
  // Who comes here speaks OTLP: a wrong path is answered as one would expect of such a server (H11).
  const server = createHttpServer({ ...options, sendRefusal: sendStatus, refusalDocument: statusDocument });
  await registerIngestRoutes(server.fastify, dependencies, options);
  return server;
}
