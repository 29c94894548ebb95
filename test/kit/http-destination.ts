import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

/** One request, its body decompressed. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ScriptedAnswer {
  readonly code: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A real server that answers as a test says, and remembers what it was sent. */
export interface HttpDestination {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Decides about every request; without it each is answered by 200 and an empty object of JSON. */
  answer: (request: ReceivedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;
  /** Resolves when it is so; looked at after every request. */
  until(condition: () => boolean): Promise<void>;
  /** Stops listening and breaks all connections. */
  stop(): Promise<void>;
  /** Listens again, on the same port. */
  restart(): Promise<void>;
}

export async function startHttpDestination(): Promise<HttpDestination> {
  const requests: ReceivedRequest[] = [];
  const watchers = new Set<() => void>();
  let server: Server | undefined;
  let port = 0;

  const destination: HttpDestination = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    requests,
    answer: () => ({ code: 200, headers: { "content-type": "application/json" }, body: "{}" }),
    until: (condition) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!condition()) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    stop: async () => {
      const stopped = server;
      server = undefined;
      if (stopped === undefined) return;
      const closed = new Promise((resolve) => stopped.close(resolve));
      stopped.closeAllConnections();
      await closed;
    },
    restart: listen,
  };

  async function listen(): Promise<void> {
    const listening = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const sent = Buffer.concat(chunks);
      const { headers, url: path = "" } = request;
      const received = { path, headers, body: headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent };
      const answer = await destination.answer(received);
      requests.push(received);
      response.writeHead(answer.code, answer.headers).end(answer.body);
      for (const watcher of watchers) watcher();
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(port, "127.0.0.1", resolve));
    port = (listening.address() as AddressInfo).port;
  }

  await listen();
  onTestFinished(() => destination.stop());
  return destination;
}
