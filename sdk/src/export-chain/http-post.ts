import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

export interface HttpPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** For the whole exchange, milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type HttpAnswer =
  | {
      readonly status: "answered";
      readonly code: number;
      readonly retryAfter: string | undefined;
      readonly body: Uint8Array;
    }
  | { readonly status: "unanswered"; readonly problem: string };

/** PEM texts; absent members leave Node's defaults. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface HttpClient {
  /** Never rejects. */
  post(post: HttpPost): Promise<HttpAnswer>;
  close(): void;
}

/** Longest answer kept; what a server says beyond it is read and thrown away. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * A keep-alive client for one endpoint whose sockets never keep the process alive: whoever must wait for an answer
 * holds the process by other means, with a deadline.
 */
export function createHttpClient(protocol: string, maxSockets: number, tls: TlsMaterial): HttpClient {
  const secure = protocol === "https:";
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, maxSockets, ...tls })
    : new HttpAgent({ keepAlive: true, maxSockets });
  const request = secure ? httpsRequest : httpRequest;
  return {
    post: (post) =>
      new Promise((resolve) => {
        let exchange: ClientRequest;
        try {
          exchange = request(post.url, {
            method: "POST",
            agent,
            headers: { ...post.headers, "content-length": post.body.byteLength },
          });
        } catch (error) {
          resolve(unanswered(error));
          return;
        }
        follow(exchange, post, resolve);
        exchange.end(post.body);
      }),
    close: () => agent.destroy(),
  };
}

function follow(exchange: ClientRequest, post: HttpPost, settle: (answer: HttpAnswer) => void): void {
  const stop = (problem: string): void => {
    exchange.destroy(new Error(problem));
  };
  const onAbort = (): void => stop("withdrawn");
  const timer = setTimeout(() => stop(`no answer within ${post.timeoutMs} ms`), post.timeoutMs);
  timer.unref();
  const finish = (answer: HttpAnswer): void => {
    clearTimeout(timer);
    post.signal.removeEventListener("abort", onAbort);
    settle(answer);
  };
  if (post.signal.aborted) onAbort();
  else post.signal.addEventListener("abort", onAbort, { once: true });
  exchange.on("socket", (socket) => socket.unref());
  exchange.on("error", (error) => finish(unanswered(error)));
  exchange.on("response", (response) => collect(response, finish));
}

/** A connection that breaks in the middle of an answer is no answer: the server may or may not have the batch. */
function collect(response: IncomingMessage, finish: (answer: HttpAnswer) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    if (bytes < MAX_ANSWER_BYTES) chunks.push(chunk.subarray(0, MAX_ANSWER_BYTES - bytes));
    bytes += chunk.byteLength;
  });
  response.on("error", (error) => finish(unanswered(error)));
  response.on("end", () =>
    finish({
      status: "answered",
      code: response.statusCode ?? 0,
      retryAfter: response.headers["retry-after"],
      body: Buffer.concat(chunks),
    }),
  );
}

function unanswered(error: unknown): HttpAnswer {
  if (!(error instanceof Error)) return { status: "unanswered", problem: "request failed" };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  // Node puts several failed addresses into one error without a message of its own.
  return { status: "unanswered", problem: error.message === "" ? (code ?? error.name) : error.message };
}
