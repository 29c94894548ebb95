import etag from "@fastify/etag";
import type { FastifyInstance } from "fastify";
import { refuseOtherMethods } from "../http/allowed-methods.ts";
import { HttpRefusal } from "../http/http-refusal.ts";
import { requireScope } from "../http/require-scope.ts";
import { type AccessControl, OPEN_ACCESS } from "../security/access-control.ts";
import { registerAdminRoutes } from "./admin-routes.ts";
import type { ApiDependencies } from "./api-dependencies.ts";
import { registerBoardFiles } from "./board-files.ts";
import { registerChildrenRoutes } from "./children-routes.ts";
import { registerEvidenceRoutes } from "./evidence-routes.ts";
import { registerHealthRoutes } from "./health-routes.ts";
import { registerLineageRoutes } from "./lineage-routes.ts";
import { registerOpenApi } from "./openapi.ts";
import { registerStreamRoute } from "./stream-route.ts";
import { createSummaryView } from "./summary-view.ts";
import { UpdateStream } from "./update-stream.ts";

export interface ApiOptions {
  /** Who may see data (API, stream and metrics), and who may administer. By default everybody and nobody. */
  readonly access?: AccessControl;
  /** As in `UpdateStreamOptions`. */
  readonly coalesceMs?: number;
  readonly heartbeatMs?: number;
  readonly maxStreams?: number;
}

/**
 * Registers board, health, metrics and `/api/v1`. The board's files and the health answers hold no data and need no token.
 */
export async function registerApi(
  server: FastifyInstance,
  dependencies: ApiDependencies,
  options: ApiOptions & { readonly onError: (error: unknown) => void },
): Promise<void> {
  const {
    reader,
    updates,
    clock,
    readiness,
    metrics,
    admin,
    authorities = () => [],
    observed = [],
    visibility,
  } = dependencies;
  const { access = OPEN_ACCESS, coalesceMs, heartbeatMs, maxStreams, onError } = options;
  const summaryView = createSummaryView(reader, clock, authorities);
  const stream = new UpdateStream({
    reader,
    updates,
    summaryView,
    ...(coalesceMs === undefined ? undefined : { coalesceMs }),
    ...(heartbeatMs === undefined ? undefined : { heartbeatMs }),
    ...(maxStreams === undefined ? undefined : { maxReaders: maxStreams }),
  });
  const methods = collectMethods(server);
  await registerOpenApi(server);
  await registerBoardFiles(server);
  await registerHealthRoutes(server, readiness);
  await server.register(async (guarded) => {
    guarded.addHook("onRequest", requireScope(access, "read"));
    guarded.addHook("onRequest", (_request, reply, done) => {
      reply.header("cache-control", "no-store");
      done();
    });
    guarded.get("/metrics", async (request, reply) => {
      const { contentType, text } = await metrics.render(request.headers.accept, reader, authorities());
      return reply.header("content-type", contentType).send(text);
    });
    await guarded.register(
      async (api) => {
        await api.register(etag, { algorithm: "sha1" });
        await registerChildrenRoutes(api, reader);
        await registerLineageRoutes(api, reader);
        await registerEvidenceRoutes(api, reader, summaryView, authorities, observed, visibility);
        await registerStreamRoute(api, stream, access);
        api.all("/*", () => {
          throw new HttpRefusal("not_found", "the API has no such resource");
        });
      },
      { prefix: "/api/v1" },
    );
  });
  if (admin !== undefined) {
    await server.register((scope) => registerAdminRoutes(scope, { ...admin, access, onError }), {
      prefix: "/api/v1/admin",
    });
  }
  for (const [url, allowed] of methods) refuseOtherMethods(server, url, allowed);
}

/** The methods of every route that is registered from now on, by its URL. */
function collectMethods(server: FastifyInstance): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, readonly string[]>();
  server.addHook("onRoute", ({ url, method }) => {
    if (!url.endsWith("/*")) methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()]);
  });
  return methods;
}
