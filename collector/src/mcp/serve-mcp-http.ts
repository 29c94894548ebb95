import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const LOOPBACK = "127.0.0.1";
const MAX_BODY_BYTES = 1024 * 1024;

export interface McpHttpServer {
  /** Address of the endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the streamable HTTP transport at `/mcp`, on the loopback alone and for its own names alone: another site's page
 * cannot reach it by a name that leads here. Each request is answered by a server of its own; no session is kept.
 * @param create makes the server that answers a request
 */
export async function serveMcpHttp(create: () => McpServer, port: number): Promise<McpHttpServer> {
  const server = createServer((request, response) => {
    answerRequest(create, request, response).catch(() => {
      if (!response.headersSent) refuse(response, 500, "the request could not be answered");
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, LOOPBACK, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return { url: `http://${LOOPBACK}:${bound}/mcp`, close: () => close(server) };
}

async function answerRequest(
  create: () => McpServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { host = "", origin } = request.headers;
  const name = host.replace(/:\d+$/, "");
  if (name !== LOOPBACK && name !== "localhost") return refuse(response, 403, "this answers for the loopback alone");
  if (origin !== undefined) return refuse(response, 403, "this answers no page of a browser");
  if (request.url !== "/mcp") return refuse(response, 404, "the endpoint is /mcp");
  if (request.method !== "POST") return refuse(response, 405, "no session is kept: POST alone");
  const body = await bodyOf(request);
  if (body === undefined) return refuse(response, 400, "the body must be JSON of at most 1 MiB");
  const mcp = create();
  const transport = new StreamableHTTPServerTransport({});
  response.once("close", () => void transport.close().then(() => mcp.close()));
  await mcp.connect(transport as Parameters<McpServer["connect"]>[0]);
  await transport.handleRequest(request, response, body);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

function refuse(response: ServerResponse, status: number, words: string): void {
  const error = { jsonrpc: "2.0", id: null, error: { code: -32_000, message: words } };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(error));
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
