import { createHermesReceiver, type HermesOptions } from "@agent-lifecycle/collector/parts";
import { expect, test } from "vitest";
import { FoldingIntake } from "./folding-intake.ts";
import { ManualTime } from "./manual-time.ts";

const URL = "ws://127.0.0.1:9119/api/ws";

function create(options: HermesOptions): () => unknown {
  const time = new ManualTime();
  const log = { info: () => {}, error: () => {} };
  const context = { id: "hermes/test", folder: "/", clock: time, intake: new FoldingIntake(time.wallNow), log };
  return () => createHermesReceiver(context, options);
}

test.each<[string, HermesOptions]>([
  ["source: names no source", { source: " ", transport: { kind: "websocket", url: URL } }],
  ["transport.url: is no URL", { source: "h", transport: { kind: "websocket", url: "127.0.0.1" } }],
  ["begins neither with ws: nor with wss:", { source: "h", transport: { kind: "websocket", url: "http://127.0.0.1" } }],
  ["carries credentials", { source: "h", transport: { kind: "websocket", url: `${URL}?token=t` } }],
  ["carries credentials", { source: "h", transport: { kind: "websocket", url: "ws://me:pw@127.0.0.1/api/ws" } }],
  ["more than one of", { source: "h", transport: { kind: "websocket", url: URL, token: "t", tokenFile: "f" } }],
  ["pollIntervalMs: is no whole number", { source: "h", transport: { kind: "stdio" }, pollIntervalMs: 0.5 }],
  ["less than twice pingIntervalMs", { source: "h", transport: { kind: "stdio" }, silenceTimeoutMs: 20_000 }],
])("refuses at once: %s", (message, options) => {
  expect(create(options)).toThrow(message);
});

test("what is refused does not repeat credentials", () => {
  expect(create({ source: "h", transport: { kind: "websocket", url: `${URL}?token=hunter22222` } })).not.toThrow(
    "hunter2",
  );
});

test("takes what is right", () => {
  expect(create({ source: "h", transport: { kind: "websocket", url: URL, token: "t" } })).not.toThrow();
  expect(create({ source: "h", transport: { kind: "stdio" } })).not.toThrow();
});
