import type { FastifyRequest, onRequestHookHandler } from "fastify";
import { HttpRefusal } from "./http-refusal.ts";

const OWN_SITE: ReadonlySet<unknown> = new Set([undefined, "same-origin", "none"]);

/**
 * Refuses what a web page of another origin sends; browsers say so and pages cannot change it. Programs say nothing of
 * it and pass.
 * @param onRefused hears of it
 */
export function refuseOtherSites(onRefused: (request: FastifyRequest) => void): onRequestHookHandler {
  return (request, _reply, done) => {
    const { origin, host } = request.headers;
    const isOwn = origin === undefined || origin === `${request.protocol}://${host}`;
    if (isOwn && OWN_SITE.has(request.headers["sec-fetch-site"])) {
      done();
      return;
    }
    onRefused(request);
    done(new HttpRefusal("forbidden", "this is not for pages of other origins"));
  };
}
