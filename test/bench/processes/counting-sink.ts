import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Where an OpenTelemetry Collector under test sends what it took: answers every POST at once and looks at nothing in
 * it. A GET of `/?requests=N` is answered when so many have come.
 */
interface Waiting {
  readonly requests: number;
  readonly response: ServerResponse;
}

let received = 0;
let waiting: readonly Waiting[] = [];

function answerWaiting(): void {
  for (const { requests, response } of waiting) if (received >= requests) response.end(String(received));
  waiting = waiting.filter(({ requests }) => received < requests);
}

const server = createServer((request, response) => {
  request.resume();
  request.once("end", () => {
    if (request.method === "POST") {
      received += 1;
      response.setHeader("content-type", "application/x-protobuf");
      response.end();
    } else {
      const wanted = Number(new URL(request.url ?? "/", "http://sink").searchParams.get("requests"));
      waiting = [...waiting, { requests: wanted, response }];
    }
    if (waiting.length > 0) answerWaiting();
  });
});

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ ingest: `http://127.0.0.1:${port}` })}\n`);
});

process.once("SIGTERM", () => {
  server.closeAllConnections();
  server.close();
});
