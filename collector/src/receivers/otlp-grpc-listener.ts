import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type SecureContextOptions } from "node:tls";
import type { CertificateSource, TlsMaterial } from "../security/certificates.ts";

export interface GrpcListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: CertificateSource;
  /** Open connections; further ones are closed at once. */
  readonly maxConnections: number;
  /** Time a client has for the TLS handshake. Milliseconds. */
  readonly handshakeTimeoutMs: number;
  /** Takes over a connection that is ready for HTTP/2. */
  readonly onConnection: (socket: Socket) => void;
  readonly onError: (error: unknown) => void;
}

/** Where connections come in. */
export interface GrpcListener {
  /** @throws the operating system's error, such as EADDRINUSE. */
  listen(): Promise<void>;
  /** Takes no more connections. Resolves when those that were handed over have ended. */
  close(): Promise<void>;
  /** Cuts every connection. */
  destroyConnections(): void;
  /** Resolves after `close`, when nothing is open any more. */
  readonly closed: Promise<void>;
  /** `http://host:port`, or `https:`, of the bound address. @throws Error while nothing is bound. */
  endpoint(): string;
}

/**
 * Listens itself and hands connections on: the library's own listener has no bound on connections, loses the code of the
 * system's error, and leaves an error of `accept` to end the process.
 */
export function createGrpcListener(options: GrpcListenerOptions): GrpcListener {
  const { tls, onError } = options;
  const server = tls === undefined ? createServer({ noDelay: true }) : createSecureServer(tls, options);
  const sockets = new Set<Socket>();
  /** Those of them that speak HTTP/2; over TLS each is another object than the one it came in on. */
  const handedOver = new Set<Socket>();
  const drained = Promise.withResolvers<void>();
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  let isClosed = false;
  const look = (): void => {
    if (isClosed && handedOver.size === 0) drained.resolve();
  };
  server.maxConnections = options.maxConnections;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    if (isClosed) {
      // Its handshake ended after everybody was asked to leave.
      socket.destroy();
      return;
    }
    handedOver.add(socket);
    socket.once("close", () => {
      handedOver.delete(socket);
      look();
    });
    options.onConnection(socket);
  });
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen({ host: options.host, port: options.port }, () => {
          server.off("error", reject);
          server.on("error", onError);
          resolve();
        });
      }),
    close: () => {
      server.close();
      isClosed = true;
      look();
      return drained.promise;
    },
    destroyConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    closed,
    endpoint: () => {
      const address = server.address() as AddressInfo | null;
      if (address === null) throw new Error("the receiver is not listening");
      const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
      return `${tls === undefined ? "http" : "https"}://${host}:${address.port}`;
    },
  };
}

const MIN_TLS_VERSION = "TLSv1.2";

function createSecureServer(source: CertificateSource, options: GrpcListenerOptions): Server {
  const material = source.current();
  const isMutual = material.clientAuthorities !== undefined;
  const server = createTlsServer({
    ...secureContextOf(material),
    ALPNProtocols: ["h2"],
    requestCert: isMutual,
    rejectUnauthorized: isMutual,
    handshakeTimeout: options.handshakeTimeoutMs,
    noDelay: true,
  });
  // A client that fails its handshake is nobody's fault but its own. One that is too slow would keep its connection.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket) => socket.on("error", () => {}));
  const unsubscribe = source.subscribe((replacement) => {
    try {
      // A session that is resumed shows no certificate again. The new context knows none of the old one's sessions.
      server.setSecureContext(secureContextOf(replacement));
    } catch (error) {
      options.onError(error);
    }
  });
  server.on("close", unsubscribe);
  return server;
}

function secureContextOf({ certificate, privateKey, clientAuthorities }: TlsMaterial): SecureContextOptions {
  return {
    cert: certificate,
    key: privateKey,
    minVersion: MIN_TLS_VERSION,
    ...(clientAuthorities === undefined ? undefined : { ca: clientAuthorities }),
  };
}
