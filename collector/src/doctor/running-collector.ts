import { readFileSync } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { ConfiguredListener } from "./listeners.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
}

const TIMEOUT_MS = 3_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Asks a path of the API where it is configured to listen. Over TLS nobody is trusted but who shows the configured
 * certificate: a token goes to no other.
 * @returns `undefined` when nothing answers there as a collector's server would
 */
export function askApi(
  { endpoint: { host, port }, tls }: ConfiguredListener,
  path: string,
  token?: string,
): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const give = (): void => resolve(undefined);
    try {
      const options = {
        host: reachable(host),
        port,
        path,
        agent: false,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      };
      const outgoing =
        tls === undefined
          ? requestHttp(options)
          : requestHttps({ ...options, ...trusting(readFileSync(tls.certFile)) });
      outgoing.on("error", give);
      outgoing.on("response", (response) => readAnswer(response).then(resolve, give));
      outgoing.end();
    } catch {
      give();
    }
  });
}

/** A server that listens on every address is asked on this machine. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

/** The certificate itself is what is trusted, whatever name it is for and whoever has signed it. */
function trusting(ca: Buffer): {
  readonly ca: Buffer;
  readonly allowPartialTrustChain: true;
  readonly checkServerIdentity: () => undefined;
} {
  return { ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new RangeError("the answer is too long");
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
}
