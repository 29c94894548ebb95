import { createHash, timingSafeEqual } from "node:crypto";
import type { onRequestHookHandler } from "fastify";
import { HttpRefusal } from "./http-refusal.ts";

const BEARER = /^bearer +(\S+) *$/i;

/**
 * Lets only requests pass that carry the token. Digests are compared, in constant time: neither the token's content nor
 * its length shows in how long a refusal takes.
 */
export function requireBearerToken(token: string): onRequestHookHandler {
  const expected = digestOf(token);
  return (request, _reply, done) => {
    // A preflight can carry no credentials, and is told nothing that needs them.
    if (request.method === "OPTIONS") {
      done();
      return;
    }
    const presented = BEARER.exec(request.headers.authorization ?? "")?.[1];
    if (presented !== undefined && timingSafeEqual(digestOf(presented), expected)) done();
    else
      done(
        new HttpRefusal("unauthorized", "this needs its bearer token", { headers: { "www-authenticate": "Bearer" } }),
      );
  };
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
