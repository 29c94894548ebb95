import type { onRequestHookHandler } from "fastify";
import { HttpRefusal } from "./http-refusal.ts";

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Lets only requests pass whose `Host` names this machine's loopback, on any port, or one of `allowedHosts`. A web page
 * can make a name of its own point to 127.0.0.1 (DNS rebinding); it cannot make the browser send another `Host`.
 */
export function requireLoopbackHost(allowedHosts: readonly string[]): onRequestHookHandler {
  const allowed = new Set([...LOOPBACK_NAMES, ...allowedHosts.map((host) => host.toLowerCase())]);
  return (request, _reply, done) => {
    if (allowed.has(hostNameOf(request.headers.host))) done();
    else done(new HttpRefusal("forbidden", "the Host header names no address that this server answers for"));
  };
}

/** HTTP/1.1 asks for a `Host`; without one, what is meant may be guessed in different ways. */
export const requireHost: onRequestHookHandler = (request, _reply, done) => {
  if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
    done(new HttpRefusal("malformed", "a request names its host"));
  } else done();
};

function hostNameOf(host: string | undefined): string {
  return (host ?? "").toLowerCase().replace(/:\d{1,5}$/, "");
}
