import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGzip, gzipSync } from "node:zlib";
import { ByteBudget, bodyChunks, type HttpServer } from "@agent-lifecycle/collector/parts";
import { expect, it, onTestFinished } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import { otlpBody, postLogs, startIngest } from "./ingest-fixture.ts";
import { keepAliveAgent, rawRequest } from "./raw-http.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const MEBIBYTE = 1024 * 1024;
const PROTOBUF = { "content-type": "application/x-protobuf" };
const OVERLOADED = { kind: "overloaded", retryAfterSeconds: 1 } as const;
const created = makeEvent({ childId: "a", state: "created", sequence: 1 });

/** Zeros, made as they are read: memory shows what the server keeps, not what the test does. */
function zeros(bytes: number): Readable {
  const chunk = Buffer.alloc(64 * 1024);
  let left = bytes;
  return new Readable({
    read() {
      const size = Math.min(chunk.length, left);
      left -= size;
      this.push(size === 0 ? null : chunk.subarray(0, size));
    },
  });
}

function* chunksOf(bytes: Buffer, size: number): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

it.each([
  ["a declared length", {}, () => Buffer.alloc(2 * MEBIBYTE)],
  ["no length", { "transfer-encoding": "chunked" }, () => zeros(2 * MEBIBYTE)],
  [
    "gzip around it",
    { "content-encoding": "gzip", "transfer-encoding": "chunked" },
    () => gzipSync(Buffer.alloc(2 * MEBIBYTE)),
  ],
  [
    "gzip that is too large itself",
    { "content-encoding": "gzip", "transfer-encoding": "chunked" },
    () => Readable.from(chunksOf(gzipSync(randomBytes(2 * MEBIBYTE)), 16 * 1024)),
  ],
])("refuses a body that is too large, with %s, and keeps the connection (T5, H5)", async (_name, headers, body) => {
  const server = await startIngest(new ScriptedIntake(), { maxBodyBytes: MEBIBYTE });
  const agent = keepAliveAgent();
  const url = `${server.url()}/v1/logs`;
  const refused = await rawRequest(url, { method: "POST", headers: { ...PROTOBUF, ...headers }, body: body(), agent });
  expect(refused.statusCode).toBe(413);
  expect(refused.headers["content-type"]).toBe("application/x-protobuf");
  const next = await rawRequest(url, {
    method: "POST",
    headers: PROTOBUF,
    body: otlpBody("protobuf", [created]),
    agent,
  });
  expect(next.statusCode).toBe(200);
  expect(next.localPort).toBe(refused.localPort);
});

it("takes a body of exactly the limit", async () => {
  const intake = new ScriptedIntake();
  const body = otlpBody("protobuf", [created]);
  const exact = await startIngest(intake, { maxBodyBytes: body.length });
  expect((await postLogs(exact, "protobuf", body)).status).toBe(200);
  const tighter = await startIngest(intake, { maxBodyBytes: body.length - 1 });
  expect((await postLogs(tighter, "protobuf", body)).status).toBe(413);
});

it("stops a gzip bomb at the limit: what it would become is never made (T5)", async () => {
  const server = await startIngest(new ScriptedIntake(), { maxBodyBytes: 4 * MEBIBYTE });
  const gzip = createGzip({ level: 1 });
  const bomb = await buffer(zeros(256 * MEBIBYTE).pipe(gzip));
  expect(bomb.length).toBeLessThan(4 * MEBIBYTE);
  const before = process.memoryUsage();
  let highest = before.rss;
  const watch = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 1);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    expect((await postLogs(server, "protobuf", bomb, { "content-encoding": "gzip" })).status).toBe(413);
  }
  clearInterval(watch);
  // Far below the three times 256 MiB that were sent in small.
  expect(highest - before.rss).toBeLessThan(150 * MEBIBYTE);
});

it("refuses retryably what all requests together may not hold, and has room again after them", async () => {
  const intake = new ScriptedIntake();
  let open: () => void = () => {};
  intake.gate = new Promise((resolve) => {
    open = resolve;
  });
  const body = otlpBody("protobuf", [created]);
  const server = await startIngest(intake, { budget: new ByteBudget(Math.floor(body.length * 1.5)) });
  const first = postLogs(server, "protobuf", body);
  const second = postLogs(server, "protobuf", body);
  const refused = await Promise.race([first, second]);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  open();
  expect((await Promise.all([first, second])).map(({ status }) => status).toSorted()).toEqual([200, 503]);
  expect((await postLogs(server, "protobuf", body)).status).toBe(200);
});

it("answers before the client has sent everything, and discards the rest", async () => {
  const server = await startIngest(new ScriptedIntake(), { maxBodyBytes: 1024 });
  const { hostname, port } = new URL(server.url());
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const answers = statusCodes(socket);
  socket.write(
    "POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000), Buffer.from("\r\n")]);
  socket.write(chunk);
  expect(await answers.next()).toEqual({ done: false, value: "413" });
  for (let sent = 0; sent < 32 * MEBIBYTE; sent += chunk.length) if (!socket.write(chunk)) await once(socket, "drain");
  socket.write("0\r\n\r\n");
  socket.write(
    "POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  );
  expect(await answers.next()).toEqual({ done: false, value: "200" });
});

it("cuts a client that goes on sending what nobody wants", async () => {
  const server = await startIngest(new ScriptedIntake(), { maxBodyBytes: 1024 });
  const { hostname, port } = new URL(server.url());
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.resume();
  socket.write(
    `POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${2 ** 40}\r\n\r\n`,
  );
  zeros(512 * MEBIBYTE).pipe(socket);
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  expect(socket.bytesWritten).toBeLessThan(256 * MEBIBYTE);
});

/** A client that announces a body, sends the beginning of it, and then nothing more. */
function stall(server: HttpServer, contentLength: number): Socket {
  const { hostname, port } = new URL(server.url());
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${contentLength}\r\n\r\n{`,
  );
  return socket;
}

it("refuses a body retryably that does not come to its end, and closes the connection", async () => {
  const server = await startIngest(new ScriptedIntake(), { slowAfterMs: 5, maxReceiveMs: 10 });
  const socket = stall(server, MEBIBYTE);
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
  expect(String(answer)).toMatch(/^retry-after: 1\r$/im);
  socket.resume();
  await once(socket, "close");
});

it("lets others in while bodies that were announced do not come: stalled clients keep nobody out", async () => {
  const budget = new ByteBudget(2 * MEBIBYTE);
  const admission = { refusal: () => (budget.promptBytes > 0 ? OVERLOADED : undefined) };
  const server = await startIngest(new ScriptedIntake(), { budget, admission, slowAfterMs: 5, maxReceiveMs: 600_000 });
  const stalled = stall(server, 2 * MEBIBYTE);
  await once(server.fastify.server, "request");
  const body = otlpBody("protobuf", [created]);
  for (;;) if ((await postLogs(server, "protobuf", body)).status === 200) break;
  expect(stalled.closed).toBe(false);
});

it("does not go on unpacking a body for a client that has left", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const packed = gzipSync(Buffer.alloc(64 * MEBIBYTE));
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
  socket.write(packed);
  const [request] = (await once(server, "request")) as [IncomingMessage];
  const chunks = bodyChunks(request, { maxWireBytes: MEBIBYTE, maxDecodedBytes: 128 * MEBIBYTE });
  await chunks.next();
  socket.destroy();
  await once(request.socket, "close");
  const rest = (async () => {
    for await (const chunk of chunks) expect(chunk.length).toBeGreaterThan(0);
  })();
  await expect(rest).rejects.toMatchObject({ reason: "aborted" });
});

/** The status codes of the answers, as they come. */
async function* statusCodes(socket: Socket): AsyncGenerator<string, undefined> {
  for await (const chunk of socket) {
    for (const [, statusCode] of String(chunk).matchAll(/HTTP\/1\.1 (\d{3})/g)) yield statusCode ?? "";
  }
}
