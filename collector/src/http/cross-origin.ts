import type { FastifyInstance, onRequestHookHandler } from "fastify";

/**
 * Lets web pages of the listed origins post here (CORS). With none listed, which is the default, nothing is answered
 * that would let a browser do so.
 */
export function allowOrigins(origins: readonly string[]): onRequestHookHandler {
  const allowed = new Set(origins);
  return (request, reply, done) => {
    reply.header("vary", "origin");
    const { origin } = request.headers;
    if (origin !== undefined && allowed.has(origin)) reply.header("access-control-allow-origin", origin);
    done();
  };
}

/** Answers the preflight of a POST to `url`. */
export function registerPreflight(scope: FastifyInstance, url: string): void {
  scope.options(url, (_request, reply) =>
    reply
      .code(204)
      .headers({
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "authorization, content-encoding, content-type",
        "access-control-max-age": "600",
      })
      .send(),
  );
}
