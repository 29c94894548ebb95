import { type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";

/**
 * Sends one GET over a connection of its own, which is closed with it: nothing is kept open between two questions.
 * Resolves with the headers of the response; rejects with a sentence that holds no credentials.
 */
export function sendGet(
  url: string,
  headers: Readonly<Record<string, string>>,
  tls: Pick<RequestOptions, "ca" | "cert" | "key">,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isSecure = url.startsWith("https:");
  return new Promise((resolve, reject) => {
    const options = { method: "GET", agent: false as const, headers, signal };
    const outgoing = isSecure ? requestHttps(url, { ...options, ...tls }) : requestHttp(url, options);
    outgoing.once("response", resolve);
    outgoing.on("error", (error) => reject(new Error(inWords(error), { cause: error })));
    outgoing.end();
  });
}

/** Everything of a body, and no more than so many bytes. @throws Error when it is longer, or ends before its end. */
export async function readLimited(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`its answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A name with several addresses fails with all their errors, and no text of its own. */
function inWords(error: Error): string {
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
  const told = first instanceof Error ? first : error;
  return told.message === "" ? told.name : told.message;
}
