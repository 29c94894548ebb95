import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import type { GatewayDouble } from "./gateway-double.ts";

export interface GatewayServerOptions {
  /** What a client must show in its address. Default: anything will do. */
  readonly token?: string;
  /** The cookie of a login that gets tickets, each good for one connection. Default: there is no login. */
  readonly loginCookie?: string;
  /** How those are turned away who do not: before the upgrade, by a status; or after it, by closing. Default 403. */
  readonly refusal?: { readonly status: number } | { readonly closeCode: number };
  /** Answers to what is not an upgrade. */
  readonly onHttp?: (request: IncomingMessage) => HttpAnswer;
  /** Takes the place of the gateway for each message. */
  readonly onMessage?: (peer: WebSocket, text: string) => void;
}

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly location?: string;
}

/** A gateway behind a real socket on a free port of this machine, until the test is over. */
export interface GatewayServer {
  readonly url: string;
  readonly server: Server;
  /** Addresses of those who asked to be let in. */
  readonly upgrades: URL[];
  readonly peers: WebSocket[];
  /** Ends as a killed process does: no goodbye, and nobody listens any more. */
  kill(): Promise<void>;
  /** Another process takes the address. */
  listenAgain(): Promise<void>;
}

export async function serveGateway(gateway: GatewayDouble, options: GatewayServerOptions = {}): Promise<GatewayServer> {
  const upgrades: URL[] = [];
  const peers: WebSocket[] = [];
  const tickets = new TicketOffice(options.loginCookie);
  const server = createServer((request, response) => {
    const { status, body, location } = (options.onHttp ?? tickets.answer)(request);
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  });
  const webSockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    const url = new URL(request.url ?? "", "ws://gateway");
    upgrades.push(url);
    const refusal = mayEnter(url, options) && tickets.admits(url) ? undefined : (options.refusal ?? { status: 403 });
    if (refusal !== undefined && "status" in refusal) {
      socket.end(`HTTP/1.1 ${refusal.status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (peer) => {
      peers.push(peer);
      if (refusal === undefined) join(gateway, peer, options);
      else peer.close(refusal.closeCode, `refused: token=${url.searchParams.get("token")}`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const { port } = address;
  const kill = async (): Promise<void> => {
    for (const peer of peers) peer.terminate();
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  onTestFinished(kill);
  return {
    url: `ws://127.0.0.1:${port}/api/ws`,
    server,
    upgrades,
    peers,
    kill,
    listenAgain: async () => {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
  };
}

/** Tickets for those who are logged in. */
class TicketOffice {
  readonly #cookie: string | undefined;
  readonly #open = new Set<string>();
  #given = 0;

  constructor(cookie: string | undefined) {
    this.#cookie = cookie;
  }

  readonly answer = ({ method, url, headers }: IncomingMessage): HttpAnswer => {
    if (this.#cookie === undefined || url !== "/api/auth/ws-ticket" || method !== "POST")
      return { status: 404, body: "" };
    if (headers.cookie !== this.#cookie) return { status: 401, body: "" };
    this.#given += 1;
    const ticket = `ticket-${this.#given}-4be1c07f`;
    this.#open.add(ticket);
    return { status: 200, body: JSON.stringify({ ticket, ttl_seconds: 30 }) };
  };

  admits(url: URL): boolean {
    return this.#cookie === undefined || this.#open.delete(url.searchParams.get("ticket") ?? "");
  }
}

function mayEnter(url: URL, { token }: GatewayServerOptions): boolean {
  return token === undefined || url.searchParams.get("token") === token;
}

function join(gateway: GatewayDouble, peer: WebSocket, { onMessage }: GatewayServerOptions): void {
  const connection = gateway.connect(
    (text) => peer.send(text),
    () => peer.terminate(),
  );
  peer.on("message", (data) => {
    if (onMessage === undefined) connection.receive(data.toString());
    else onMessage(peer, data.toString());
  });
  peer.on("close", () => connection.close());
}
