import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

export interface ForwardingProxy {
  readonly url: string;
  /** The bodies that went through, decompressed. */
  readonly bodies: readonly Buffer[];
}

/** Passes HTTP requests on to a server, and keeps what they brought: what an SDK has written, seen on its way. */
export async function startForwardingProxy(target: string): Promise<ForwardingProxy> {
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    bodies.push(request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body);
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      name.startsWith("content-") && name !== "content-length" && typeof value === "string" ? [[name, value]] : [],
    );
    const answer = await fetch(new URL(request.url ?? "/", target), {
      method: "POST",
      headers,
      body: Uint8Array.from(body),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}
