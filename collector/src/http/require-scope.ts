import type { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { FastifyRequest, onRequestHookHandler } from "fastify";
import {
  type AccessControl,
  ANONYMOUS,
  type Credentials,
  type Principal,
  type Scope,
} from "../security/access-control.ts";
import { type ClientCertificate, clientCertificateOf } from "../security/client-certificate.ts";
import { HttpRefusal } from "./http-refusal.ts";

const principals = new WeakMap<object, Principal>();

/**
 * Lets only requests pass that may do what the scope stands for, and remembers who sends them. Runs before anything of a
 * body is read.
 * @param onRefused hears of those who may not, with the name of who it is where that is known
 * @throws HttpRefusal `unauthorized` without credentials that are known, `forbidden` with some that are not for this.
 */
export function requireScope(
  access: AccessControl,
  scope: Scope,
  onRefused: (request: FastifyRequest, principal: string | undefined) => void = () => {},
): onRequestHookHandler {
  return (request, _reply, done) => {
    // A preflight can carry no credentials, and is told nothing that needs them.
    if (request.method === "OPTIONS" && scope !== "admin") {
      done();
      return;
    }
    const decision = access.authorize(scope, credentialsOf(request));
    if (decision.allowed) {
      principals.set(request.raw, decision.principal);
      done();
      return;
    }
    if (decision.reason === "unauthenticated") {
      onRefused(request, undefined);
      done(new HttpRefusal("unauthorized", decision.text, { headers: { "www-authenticate": "Bearer" } }));
      return;
    }
    onRefused(request, decision.principal.name);
    const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
    done(new HttpRefusal("forbidden", decision.text, { headers: { "www-authenticate": challenge } }));
  };
}

/** Asks again about a request that was let in, for answers that go on after the grants may have changed. */
export function remainsAllowed(access: AccessControl, scope: Scope, request: FastifyRequest): () => boolean {
  const credentials = credentialsOf(request);
  return () => access.authorize(scope, credentials).allowed;
}

function credentialsOf({ headers: { authorization }, raw }: FastifyRequest): Credentials {
  const certificate = certificateOf(raw.socket);
  return { authorization, ...(certificate === undefined ? undefined : { certificate }) };
}

/** Who sends a request that has passed `requireScope`. */
export function principalOf({ raw }: Pick<FastifyRequest, "raw">): Principal {
  return principals.get(raw) ?? ANONYMOUS;
}

/** The part of an `Origin` that says for which sources the sender may speak. */
export function sourcesAllowedTo(request: Pick<FastifyRequest, "raw">): {
  readonly allowedSources?: ReadonlySet<string>;
} {
  const { sources } = principalOf(request);
  return sources === undefined ? {} : { allowedSources: sources };
}

/** A connection keeps its certificate: it is read once. `null`: it showed none. */
const certificates = new WeakMap<Socket, ClientCertificate | null>();

function certificateOf(socket: Socket): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const known = certificates.get(socket);
  if (known !== undefined) return known ?? undefined;
  const shown: X509Certificate | undefined = socket.getPeerX509Certificate();
  const certificate = shown === undefined ? undefined : clientCertificateOf(shown);
  certificates.set(socket, certificate ?? null);
  return certificate;
}
