import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import { decodeLogsJson, decodeLogsProtobuf, type LifecycleEvent, normalizeEvent } from "@agent-lifecycle/proto";
import { onTestFinished } from "vitest";

export interface LogsRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly events: readonly LifecycleEvent[];
  readonly traceIds: readonly (string | undefined)[];
}

/** Answers one request; the next one gets the next answer, and when they run out, `200 {}`. */
export type Answer = (response: ServerResponse, request: LogsRequest) => void;

export interface LogsServer {
  readonly endpoint: string;
  readonly port: number;
  readonly requests: readonly LogsRequest[];
  /** Events of requests that were answered with success, in the order they came. */
  accepted(): readonly LifecycleEvent[];
  /** Resolves when so many events have been answered with success. */
  acceptedCount(count: number): Promise<void>;
  /** Resolves when so many requests have come. */
  requestCount(count: number): Promise<void>;
  /** Refuses connections from now on. */
  stop(): Promise<void>;
}

/** A real OTLP/HTTP server that decodes with our own decoders; gone after the test. */
export async function startLogsServer(answers: readonly Answer[] = [], port = 0): Promise<LogsServer> {
  const requests: LogsRequest[] = [];
  const accepted: LifecycleEvent[] = [];
  const left = [...answers];
  let awaited: { readonly count: number; readonly resolve: () => void }[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((message, response) => {
    void bodyOf(message).then((body) => {
      const request = decode(message, body);
      requests.push(request);
      const answer = left.shift() ?? succeed;
      response.on("finish", () => {
        if (response.statusCode !== 200) return;
        for (const event of request.events) accepted.push(event);
        for (const each of awaited) if (each.count <= accepted.length) each.resolve();
        awaited = awaited.filter((each) => each.count > accepted.length);
      });
      answer(response, request);
      for (const each of waiting) if (each.count <= requests.length) each.resolve();
      waiting = waiting.filter((each) => each.count > requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  onTestFinished(stop);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    accepted: () => accepted,
    stop,
    acceptedCount: (count) =>
      accepted.length >= count ? Promise.resolve() : new Promise((resolve) => awaited.push({ count, resolve })),
    requestCount: (count) =>
      requests.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
  };
}

export const succeed: Answer = (response) => {
  response.setHeader("content-type", "application/json").end("{}");
};

/** A status code, with headers and body. */
export function answerWith(code: number, headers: Readonly<Record<string, string>> = {}, body = ""): Answer {
  return (response) => response.writeHead(code, headers).end(body);
}

/** The connection stays open and nothing is ever said. */
export const hang: Answer = () => undefined;

/** Headers, half a body, then a reset. */
export const breakOff: Answer = (response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write("{", () => response.socket?.resetAndDestroy());
};

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return message.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}

function decode(message: IncomingMessage, body: Buffer): LogsRequest {
  const decoded =
    message.headers["content-type"] === "application/x-protobuf"
      ? decodeLogsProtobuf(body)
      : decodeLogsJson(JSON.parse(body.toString("utf8")));
  if (!decoded.ok) throw new Error(decoded.problem);
  const events: LifecycleEvent[] = [];
  const traceIds: (string | undefined)[] = [];
  for (const record of decoded.records) {
    if (record.foreign) throw new Error("a foreign record");
    const normalized = normalizeEvent(record.candidate);
    if (!normalized.ok) throw new Error(`${normalized.diagnostic.path}: ${normalized.diagnostic.text}`);
    events.push(normalized.event);
    traceIds.push(record.traceId);
  }
  return { path: message.url ?? "", headers: message.headers, events, traceIds };
}
