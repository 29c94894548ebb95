import { once } from "node:events";
import { connect } from "node:net";
import { createAccessControl, createIngestServer, createMetrics } from "@agent-lifecycle/collector/parts";
import { expect, it } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import { otlpBody, postLogs, startIngest } from "./ingest-fixture.ts";
import { keepAliveAgent, rawRequest } from "./raw-http.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const JSON_TYPE = { "content-type": "application/json" };
const body = otlpBody("json", [makeEvent({ childId: "a", state: "created", sequence: 1 })]);

it("serves one request after another on one connection (T17)", async () => {
  const server = await startIngest(new ScriptedIntake());
  const agent = keepAliveAgent();
  const url = `${server.url()}/v1/logs`;
  const first = await rawRequest(url, { method: "POST", headers: JSON_TYPE, body, agent });
  const second = await rawRequest(url, { method: "POST", headers: JSON_TYPE, body, agent });
  expect([first.statusCode, second.statusCode]).toEqual([200, 200]);
  expect(second.localPort).toBe(first.localPort);
});

it.each([
  [
    "headers",
    "POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    { headersTimeoutMs: 100, requestTimeoutMs: 100 },
  ],
  [
    "a body",
    "POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    { headersTimeoutMs: 100, requestTimeoutMs: 100 },
  ],
])("closes a connection whose client is too slow with %s (T17)", async (_name, beginning, timeouts) => {
  const intake = new ScriptedIntake();
  const server = await startIngest(intake, timeouts);
  const { hostname, port } = new URL(server.url());
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.resume();
  socket.write(beginning);
  await once(socket, "close");
  expect(intake.received).toEqual([]);
});

it("closes an idle connection (T17)", async () => {
  const server = await startIngest(new ScriptedIntake(), { keepAliveTimeoutMs: 50 });
  const { hostname, port } = new URL(server.url());
  const socket = connect(Number(port), hostname);
  socket.resume();
  socket.write("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(socket, "end");
});

it("survives a client that goes away in the middle of a body", async () => {
  const intake = new ScriptedIntake();
  const server = await startIngest(intake);
  const { hostname, port } = new URL(server.url());
  for (const coding of ["identity", "gzip"]) {
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: ${coding}\r\nContent-Length: 100\r\n\r\n{"res`,
    );
    await once(socket, "connect");
    socket.destroy();
  }
  expect((await postLogs(server, "json", body)).status).toBe(200);
  expect(intake.received).toHaveLength(1);
});

it.each(["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:4318", "[::2]"])(
  "answers no request for the host %j on a loopback address: a page may have rebound its name",
  async (host) => {
    const server = await startIngest(new ScriptedIntake());
    const answer = await rawRequest(`${server.url()}/v1/logs`, {
      method: "POST",
      headers: { ...JSON_TYPE, host },
      body,
    });
    expect(answer.statusCode).toBe(403);
  },
);

it.each(["localhost", "LOCALHOST:1", "127.0.0.1:9999", "[::1]:80", "[::1]", "collector.test:4318"])(
  "answers requests for the host %j",
  async (host) => {
    const server = await startIngest(new ScriptedIntake(), { allowedHosts: ["Collector.test"] });
    const answer = await rawRequest(`${server.url()}/v1/logs`, {
      method: "POST",
      headers: { ...JSON_TYPE, host },
      body,
    });
    expect(answer.statusCode).toBe(200);
  },
);

it("answers no preflight unless origins are listed (T16, H23)", async () => {
  const server = await startIngest(new ScriptedIntake());
  const response = await fetch(`${server.url()}/v1/logs`, {
    method: "OPTIONS",
    headers: { origin: "https://app.test" },
  });
  expect(response.status).toBe(405);
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
});

it("answers preflights of listed origins, without a token, and lets only their pages read (T16, H23)", async () => {
  const access = createAccessControl({ tokens: [{ name: "page", token: "correct-horse", scopes: ["ingest"] }] });
  const options = { allowedOrigins: ["https://app.test"], access };
  const server = await startIngest(new ScriptedIntake(), options);
  for (const path of ["/v1/logs", "/v1/lifecycle/events"]) {
    const preflight = await fetch(server.url() + path, { method: "OPTIONS", headers: { origin: "https://app.test" } });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://app.test");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("content-type");
  }
  const authorization = "Bearer correct-horse";
  const listed = await postLogs(server, "json", body, { origin: "https://app.test", authorization });
  expect(listed.headers.get("access-control-allow-origin")).toBe("https://app.test");
  const other = await postLogs(server, "json", body, { origin: "https://other.test", authorization });
  expect(other.headers.get("access-control-allow-origin")).toBeNull();
});

it("finishes a request that runs while it shuts down, and refuses connections after it", async () => {
  const intake = new ScriptedIntake();
  let open: () => void = () => {};
  const entered = new Promise<void>((resolve) => {
    intake.gate = new Promise<void>((release) => {
      open = release;
    });
    const accept = intake.acceptEvents.bind(intake);
    intake.acceptEvents = (candidates, origin) => {
      resolve();
      return accept(candidates, origin);
    };
  });
  const server = await startIngest(intake);
  const url = server.url();
  const running = postLogs(server, "json", body);
  await entered;
  const closed = server.shutdown();
  open();
  expect((await running).status).toBe(200);
  await closed;
  await server.shutdown();
  await expect(fetch(url)).rejects.toThrow();
});

it("waits for no connection that becomes idle while it shuts down", async () => {
  const intake = new ScriptedIntake();
  intake.refusals.push({ kind: "overloaded", retryAfterSeconds: 1 });
  const server = await startIngest(intake, { shutdownTimeoutMs: 600_000 });
  const socket = connect(Number(new URL(server.url()).port), "127.0.0.1");
  socket.write(
    "POST /v1/lifecycle/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100000\r\n\r\n{}\n",
  );
  // The refusal comes at once; the rest of the body, which keeps the connection busy, only after the shutdown began.
  socket.write("{}\n".repeat(2_000));
  await once(socket, "data");
  const closed = server.shutdown();
  socket.write(" ".repeat(100_000 - 3 - 6_000));
  await closed;
});

it("is safe to shut down without a start, and twice", async () => {
  const { telemetry } = createMetrics();
  const server = await createIngestServer({ intake: new ScriptedIntake(), telemetry }, { port: 0, onError: () => {} });
  expect(() => server.url()).toThrow("not listening");
  await server.shutdown();
  await server.shutdown();
});

it("says so when its port is taken", async () => {
  const first = await startIngest(new ScriptedIntake());
  const port = Number(new URL(first.url()).port);
  const { telemetry } = createMetrics();
  const second = await createIngestServer({ intake: new ScriptedIntake(), telemetry }, { port, onError: () => {} });
  await expect(second.start()).rejects.toThrow("EADDRINUSE");
  await second.shutdown();
});

it("tells a client nothing of a fault of its own, and its operator everything", async () => {
  const intake = new ScriptedIntake();
  const fault = new Error("password=hunter2");
  intake.acceptEvents = () => Promise.reject(fault);
  const faults: unknown[] = [];
  const server = await startIngest(intake, { onError: (error) => faults.push(error) });
  const response = await postLogs(server, "json", body);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain("hunter2");
  expect(faults).toEqual([fault]);
});
