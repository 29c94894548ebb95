import { askDestination } from "@agent-lifecycle/collector/parts";
import { expect, test } from "vitest";
import { closedPort } from "../../../kit/closed-port.ts";
import { startHttpDestination } from "../../../kit/http-destination.ts";
import { examined } from "./examination.ts";

async function findings(endpoint: string): Promise<readonly object[]> {
  const found = await examined({ exporters: { otlp_http: { endpoint, signals: ["logs"] } } }, { askDestination });
  return found.filter(({ check }) => check === "exporter");
}

test("a destination that takes requests is told of, and gets no record", async () => {
  const destination = await startHttpDestination();
  expect(await findings(destination.url)).toMatchObject([{ level: "ok" }]);
  expect(destination.requests).toMatchObject([{ path: "/v1/logs", body: Buffer.alloc(0) }]);
});

test("a wrong path and a dead destination are warned of: the collector runs, and they get what they missed", async () => {
  const destination = await startHttpDestination();
  destination.answer = () => ({ code: 404 });
  expect(await findings(destination.url)).toMatchObject([{ level: "warning", text: "otlp_http:logs: HTTP 404" }]);
  const port = await closedPort();
  expect(await findings(`http://127.0.0.1:${port}`)).toMatchObject([{ level: "warning" }]);
});
