import type { FastifyInstance } from "fastify";
import type { Readiness } from "../runtime/readiness.ts";

/** `/healthz`: the process answers. `/readyz`: it can take evidence and answer for it, or 503 and why not. */
export async function registerHealthRoutes(scope: FastifyInstance, readiness: () => Readiness): Promise<void> {
  scope.get("/healthz", () => ({ status: "ok" }));
  scope.get("/readyz", (_request, reply): Readiness => {
    const current = readiness();
    reply.code(current.ready ? 200 : 503);
    return current;
  });
}
