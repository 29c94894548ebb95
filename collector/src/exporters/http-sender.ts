import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Agent, request } from "undici";
import { type HttpAnswer, outcomeOfHttp } from "./http-answer.ts";
import type { RequestSender } from "./send-outcome.ts";

/** PEM texts; absent members leave Node's defaults. */
export interface ClientTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface HttpSenderOptions {
  readonly url: URL;
  readonly contentType: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly compression: "gzip" | "none";
  readonly tls: ClientTls;
  /** For one exchange. Milliseconds. */
  readonly timeoutMs: number;
  readonly now: () => number;
  /** Added to the headers of one request, such as a signature of its body. */
  readonly sign?: (body: Uint8Array) => Readonly<Record<string, string>>;
}

const compress = promisify(gzip);
/** What a server says beyond it is thrown away. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Posts bodies to one URL, over connections that are kept. */
export function createHttpSender(options: HttpSenderOptions): RequestSender {
  const { url, contentType, compression, timeoutMs, tls, now, sign } = options;
  const agent = new Agent({
    connect: { ...tls, timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    send: async (body, signal) => {
      try {
        // Exactly this type: Loki and Prometheus compare it as a text.
        const headers: Record<string, string> = {
          ...Object.fromEntries(options.headers),
          ...sign?.(body),
          "content-type": contentType,
        };
        if (compression === "gzip") headers["content-encoding"] = "gzip";
        const sent = compression === "gzip" ? await compress(body) : body;
        const response = await request(url, {
          method: "POST",
          headers,
          body: sent,
          dispatcher: agent,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        return outcomeOfHttp(await answerOf(response), now());
      } catch (error) {
        return { kind: "later", reason: reasonOf(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

async function answerOf({ statusCode, headers, body }: Awaited<ReturnType<typeof request>>): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (bytes < MAX_ANSWER_BYTES) chunks.push(chunk.subarray(0, MAX_ANSWER_BYTES - bytes));
    bytes += chunk.byteLength;
  }
  return {
    code: statusCode,
    contentType: textOf(headers["content-type"]) ?? "",
    retryAfter: textOf(headers["retry-after"]),
    body: Buffer.concat(chunks),
  };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several failed addresses come as one error without a message of its own.
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return error.message === "" ? code : error.message;
}
