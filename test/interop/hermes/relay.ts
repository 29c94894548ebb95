import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type RawData, WebSocket, WebSocketServer } from "ws";

/** Stands between the collector and a gateway, passes everything on unchanged, and keeps what was said. */
export interface Relay {
  /** For the collector: the gateway, as it were. */
  readonly url: string;
  /** Methods that the collector has called, in order. */
  readonly asked: readonly string[];
  /** What the gateway has sent to the collector unasked, in order; what concerns no session has an empty one. */
  readonly told: readonly { readonly type: string; readonly sessionId: string }[];
  /** Resolves when the collector has called the method once more than when this was called, about this session if one is named. */
  nextCall(method: string, sessionId?: string): Promise<void>;
}

interface Frame {
  readonly method?: string;
  readonly params?: { readonly type?: string; readonly session_id?: string };
}

export async function startRelay(gatewayUrl: string): Promise<Relay> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, path: "/api/ws" });
  const asked: string[] = [];
  const told: { type: string; sessionId: string }[] = [];
  const watchers = new Set<(method: string, sessionId: string | undefined) => void>();
  server.on("connection", (collector, request) => {
    join(collector, request, gatewayUrl, {
      fromCollector: ({ method, params }) => {
        if (method === undefined) return;
        asked.push(method);
        for (const watcher of watchers) watcher(method, params?.session_id);
      },
      fromGateway: ({ method, params }) => {
        if (method === "event") told.push({ type: params?.type ?? "", sessionId: params?.session_id ?? "" });
      },
    });
  });
  await once(server, "listening");
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/api/ws`,
    asked,
    told,
    nextCall: (method, sessionId) =>
      new Promise((resolve) => {
        const watcher = (called: string, about: string | undefined): void => {
          if (called !== method || (sessionId !== undefined && about !== sessionId)) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
      }),
  };
}

interface Listeners {
  readonly fromCollector: (frame: Frame) => void;
  readonly fromGateway: (frame: Frame) => void;
}

function join(collector: WebSocket, request: IncomingMessage, gatewayUrl: string, listeners: Listeners): void {
  const { search } = new URL(request.url ?? "/", "ws://relay");
  const gateway = new WebSocket(`${gatewayUrl}${search}`);
  const waiting: string[] = [];
  gateway.on("open", () => {
    for (const frame of waiting.splice(0)) gateway.send(frame);
  });
  collector.on("message", (data: RawData) => {
    const frame = data.toString();
    listeners.fromCollector(JSON.parse(frame) as Frame);
    if (gateway.readyState === WebSocket.OPEN) gateway.send(frame);
    else waiting.push(frame);
  });
  gateway.on("message", (data: RawData) => {
    const frame = data.toString();
    listeners.fromGateway(JSON.parse(frame) as Frame);
    collector.send(frame);
  });
  // Each side's end is the other's, however it came.
  gateway.on("error", () => {});
  collector.on("error", () => {});
  gateway.on("close", () => collector.terminate());
  collector.on("close", () => gateway.terminate());
}
