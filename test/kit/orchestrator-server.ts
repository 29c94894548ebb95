import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import type { LifecycleSnapshot } from "@agent-lifecycle/proto";

/** Answers one request; without one, the server answers with the newest snapshot. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A real HTTP server that knows its children, as an orchestrator would be one. */
export interface OrchestratorServer {
  readonly url: string;
  /** What was asked, the newest last. */
  readonly requests: { readonly headers: IncomingMessage["headers"]; readonly url: string | undefined }[];
  /** What it answers with from now on. Every one is a new representation, with an entity tag of its own. */
  state(snapshot: LifecycleSnapshot): void;
  /** How it answers from now on; `undefined`: with the newest snapshot. */
  answer: Answer | undefined;
  /** Resolves with the next request, after it was answered. */
  nextRequest(): Promise<void>;
  close(): Promise<void>;
}

export async function startOrchestratorServer(tls?: ServerOptions): Promise<OrchestratorServer> {
  let body = "";
  let version = 0;
  let waiting: (() => void)[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    orchestrator.requests.push({ headers: request.headers, url: request.url });
    response.on("close", () => {
      const told = waiting;
      waiting = [];
      for (const tell of told) tell();
    });
    if (orchestrator.answer !== undefined) {
      orchestrator.answer(request, response);
      return;
    }
    const etag = `"${version}"`;
    if (request.headers["if-none-match"] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    response.writeHead(200, { "content-type": "application/json", etag }).end(body);
  };
  const server: Server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const orchestrator: OrchestratorServer = {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/children`,
    requests: [],
    state: (snapshot) => {
      version += 1;
      body = JSON.stringify(snapshot);
    },
    answer: undefined,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return orchestrator;
}
