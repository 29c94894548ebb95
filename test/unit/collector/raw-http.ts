import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent chunk by chunk, without a length; a stream is what shows how much the server reads. */
  readonly body?: Readable | Buffer;
  readonly agent?: Agent;
  /** Sent as it is, where a URL would tidy it up. */
  readonly path?: string;
}

export interface RawAnswer {
  readonly statusCode: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The client's port: equal for two requests on one connection. */
  readonly localPort: number | undefined;
}

/** A client that keeps its one connection. */
export function keepAliveAgent(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
}

/** For what fetch does not let one say: any header, any method, a body in pieces. */
export async function rawRequest(url: string, options: RawRequest = {}): Promise<RawAnswer> {
  const { method = "GET", headers = {}, body, agent, path } = options;
  const outgoing = request(url, {
    method,
    headers,
    ...(agent === undefined ? undefined : { agent }),
    ...(path === undefined ? undefined : { path }),
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  // The server may answer, and close, before it has read everything.
  outgoing.on("error", () => {});
  if (body === undefined || Buffer.isBuffer(body)) outgoing.end(body);
  else body.pipe(outgoing);
  const [response] = await answered;
  const localPort = response.socket.localPort;
  return { statusCode: response.statusCode ?? 0, headers: response.headers, body: await text(response), localPort };
}
