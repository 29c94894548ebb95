import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { SnapshotHandler } from "./snapshot-handler.ts";

export interface LoopbackServerOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly handler: SnapshotHandler;
}

export interface LoopbackServer {
  /** Resolves when it listens, or with `undefined` when it is closed before. Rejects with the system's error, such as EADDRINUSE. */
  readonly url: Promise<string | undefined>;
  /** Cuts what is open. Resolves when nothing is any more. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 16;
const MAX_HEADER_BYTES = 8_192;
const TIMEOUT_MS = 5_000;

/** A server for one address of this machine and one path. It keeps no process alive. */
export function startLoopbackServer({ host, port, path, handler }: LoopbackServerOptions): LoopbackServer {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: TIMEOUT_MS,
      requestTimeout: TIMEOUT_MS,
      keepAliveTimeout: TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_MS,
    },
    (request, response) => {
      if (request.url?.split("?", 1)[0] === path) handler(request, response);
      else response.writeHead(404, { connection: "close", "content-length": 0 }).end();
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", (socket) => {
    socket.unref();
    // A reader that stops reading holds its connection, and no longer than this.
    socket.setTimeout(2 * TIMEOUT_MS, () => socket.destroy());
  });
  const url = new Promise<string | undefined>((resolve, reject) => {
    server.on("error", reject);
    server.on("close", () => resolve(undefined));
    server.listen({ host, port }, () => {
      const address = server.address() as AddressInfo;
      const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
      resolve(`http://${name}:${address.port}${path}`);
    });
  });
  server.unref();
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
