import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { isLoopback } from "../config/loopback.ts";
import type { Component } from "../runtime/component.ts";
import type { CertificateSource } from "../security/certificates.ts";
import { ClientErrors } from "./client-error.ts";
import { requireHost, requireLoopbackHost } from "./host-check.ts";
import { HttpRefusal, refusalOf } from "./http-refusal.ts";
import { problemDocument, type RefusalDocument, sendProblem } from "./problem-reply.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";
import { createTlsServer } from "./tls-server.ts";

export interface HttpServerOptions {
  /** Address to bind; `127.0.0.1` by default. */
  readonly host?: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Speaks TLS (1.2 or newer) and nothing else, with these certificates, which may be replaced on the way. */
  readonly tls?: CertificateSource;
  /** Further names that the `Host` header may have while the address is a loopback one. */
  readonly allowedHosts?: readonly string[];
  /** Open connections; further ones are closed at once. Default 4,096. */
  readonly maxConnections?: number;
  /** Time a client has for its request's headers. Milliseconds; default 10,000. */
  readonly headersTimeoutMs?: number;
  /** Time a client has for a whole request, its body included. Milliseconds; default 300,000. */
  readonly requestTimeoutMs?: number;
  /** How long an idle connection is kept. Milliseconds; default 65,000, longer than the usual client keeps one. */
  readonly keepAliveTimeoutMs?: number;
  /** How long a shutdown waits for running requests before it cuts them. Milliseconds; default 5,000. */
  readonly shutdownTimeoutMs?: number;
  /** Hears of faults of ours; clients are told nothing of them. */
  readonly onError: (error: unknown) => void;
  /** Answers a path that no route has, or that is none, in the language of those who come here. Default: problem+json. */
  readonly sendRefusal?: (request: FastifyRequest, reply: FastifyReply, refusal: HttpRefusal) => FastifyReply;
  /** The same for what did not become a request. Default: problem+json. */
  readonly refusalDocument?: (refusal: HttpRefusal) => RefusalDocument;
}

/** A server that is built and not yet listening. */
export interface HttpServer extends Component {
  readonly fastify: FastifyInstance;
  /** `http://host:port`, or `https:`, of the bound address. @throws Error before `start`. */
  url(): string;
}

const DEFAULTS = {
  host: "127.0.0.1",
  maxConnections: 4_096,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 65_000,
  shutdownTimeoutMs: 5_000,
} as const;

/** Percent-encoded, 256 characters of an identifier take at most this. */
const MAX_PARAMETER_LENGTH = 256 * 12;

/**
 * Creates a server with limits on time, connections and headers, security headers on every answer, and a `Host` check
 * while it is bound to a loopback address. Bodies are nobody's business here: every route reads its own.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const settings = { ...DEFAULTS, ...options };
  const { tls, sendRefusal = (_request, reply, refusal) => sendProblem(reply, refusal) } = options;
  const http = {
    headersTimeout: settings.headersTimeoutMs,
    // Timeouts are looked for at this pace; node's own 30 s would let a slow client hold on for that much longer.
    connectionsCheckingInterval: Math.min(settings.headersTimeoutMs, 5_000),
    // We ask for it ourselves: node's own answer has no body.
    requireHostHeader: false,
  };
  // The framework gives them to the servers that it creates itself.
  const serverTimeouts = { requestTimeout: settings.requestTimeoutMs, keepAliveTimeout: settings.keepAliveTimeoutMs };
  const clientErrors = new ClientErrors(options.refusalDocument ?? problemDocument);
  const fastify = Fastify({
    http,
    clientErrorHandler: clientErrors.answer,
    ...(tls === undefined
      ? undefined
      : {
          serverFactory: (handler: RequestListener): Server =>
            createTlsServer(tls, { ...http, ...serverTimeouts }, handler, settings.onError),
        }),
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    ajv: { customOptions: { removeAdditional: false } },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error, request, reply) => {
      // No hook has run: a URL that cannot be read is of no route.
      reply.headers(SECURITY_HEADERS);
      sendRefusal(request, reply, refusalOf(error, settings.onError));
    },
  });
  fastify.server.maxConnections = settings.maxConnections;
  clientErrors.watch(fastify.server);
  // Expectations that nobody knows may be ignored (RFC 9110, 10.1.1); node's own answer has no body.
  fastify.server.on("checkExpectation", (request, response) => fastify.server.emit("request", request, response));
  // No route leaves a body to be parsed before its handler runs.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser("*", (_request, _payload, done) => done(null));
  fastify.addHook("onRequest", (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
  fastify.addHook("onRequest", requireHost);
  if (isLoopback(settings.host)) fastify.addHook("onRequest", requireLoopbackHost(settings.allowedHosts ?? []));
  fastify.setErrorHandler((error, request, reply) => sendRefusal(request, reply, refusalOf(error, settings.onError)));
  fastify.setNotFoundHandler((request, reply) =>
    sendRefusal(request, reply, new HttpRefusal("not_found", "no such resource")),
  );
  return { fastify, ...lifecycleOf(fastify, settings) };
}

interface LifecycleSettings {
  readonly tls?: CertificateSource;
  readonly host: string;
  readonly port: number;
  readonly shutdownTimeoutMs: number;
}

function lifecycleOf(fastify: FastifyInstance, settings: LifecycleSettings): Omit<HttpServer, "fastify"> {
  let starting: Promise<unknown> = Promise.resolve();
  let closing: Promise<void> | undefined;
  return {
    start: async () => {
      starting = fastify.listen({ host: settings.host, port: settings.port });
      await starting;
    },
    shutdown: () => {
      const close = (): Promise<void> => closeWithin(fastify, settings.shutdownTimeoutMs);
      // Closed while it begins to listen, the server would go on listening.
      closing ??= starting.then(close, close);
      return closing;
    },
    url: () => {
      const address = fastify.server.address() as AddressInfo | null;
      if (address === null) throw new Error("the server is not listening");
      const scheme = settings.tls === undefined ? "http" : "https";
      const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
      return `${scheme}://${host}:${address.port}`;
    },
  };
}

const IDLE_SWEEP_MS = 50;

/** Lets running requests end; those that do not in time are cut. */
async function closeWithin(fastify: FastifyInstance, timeoutMs: number): Promise<void> {
  const { server } = fastify;
  const deadline = setTimeout(() => server.closeAllConnections(), timeoutMs);
  // Closing ends only what is idle at that moment; a connection whose last answer was kept alive becomes idle later.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  try {
    await fastify.close();
  } finally {
    clearTimeout(deadline);
    clearInterval(sweep);
  }
}
