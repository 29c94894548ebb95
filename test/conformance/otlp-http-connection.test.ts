import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Collector, resolveConfiguration, startCollector } from "@agent-lifecycle/collector";
import { decodeStatusJson, decodeStatusProtobuf, encodeLogsProtobuf } from "@agent-lifecycle/proto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { makeEvent } from "../kit/events.ts";
import { logsOf, recordOf } from "../kit/otlp-logs.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const HOST = "Host: localhost\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
const PROTOBUF_TYPE = "Content-Type: application/x-protobuf\r\n";

let collector: Collector;
let folder = "";

interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** One connection, and what comes back on it, byte by byte: what no client library lets one say or see. */
class Wire {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #hasEnded = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
    });
    socket.on("close", () => {
      this.#hasEnded = true;
    });
    onTestFinished(() => void socket.destroy());
  }

  static async open(): Promise<Wire> {
    const { hostname, port } = new URL(collector.ingestUrl ?? "");
    const socket = connect(Number(port), hostname);
    const wire = new Wire(socket);
    await once(socket, "connect");
    return wire;
  }

  write(...pieces: readonly (string | Uint8Array)[]): void {
    for (const piece of pieces) this.#socket.write(piece);
  }

  /** The next answer, by its Content-Length. */
  async answer(): Promise<Answer> {
    const head = await this.#until(() => {
      const end = this.#received.indexOf("\r\n\r\n");
      return end < 0 ? undefined : this.#received.subarray(0, end).toString("latin1");
    });
    const [statusLine = "", ...lines] = head.split("\r\n");
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const start = Buffer.byteLength(head, "latin1") + 4;
    const end = start + Number(headers.get("content-length") ?? 0);
    const body = await this.#until(() =>
      this.#received.length < end ? undefined : Buffer.from(this.#received.subarray(start, end)),
    );
    this.#received = this.#received.subarray(end);
    return { status: Number(statusLine.split(" ")[1]), headers, body };
  }

  async closed(): Promise<void> {
    if (!this.#hasEnded) await once(this.#socket, "close");
  }

  async #until<Value>(look: () => Value | undefined): Promise<Value> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`the connection ended after: ${this.#received.toString("latin1")}`);
      await Promise.race([once(this.#socket, "data"), once(this.#socket, "close")]);
    }
  }
}

function post(headers: string, body: Uint8Array | string, path = "/v1/logs"): Buffer {
  const content = Buffer.from(body as Uint8Array);
  const head = `POST ${path} HTTP/1.1\r\n${HOST}${headers}Content-Length: ${content.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), content]);
}

/** What a refusal says, read as the type that it has. */
function messageOf({ headers, body }: Answer): string | undefined {
  return headers.get("content-type") === "application/x-protobuf"
    ? decodeStatusProtobuf(body)?.message
    : decodeStatusJson(JSON.parse(body.toString()))?.message;
}

const request = encodeLogsProtobuf(logsOf(recordOf(makeEvent({ childId: "wire", sequence: 0, state: "created" }))));

describe("OTLP/HTTP as bytes on a connection", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "agent-lifecycle-"));
    const endpoint = { port: 0 };
    const { configuration } = resolveConfiguration({
      storage: { path: join(folder, "collector.db") },
      receivers: { otlp: { protocols: { http: { endpoint, maxRequestBodyBytes: MAX_BODY_BYTES }, grpc: null } } },
      api: { endpoint },
    });
    collector = await startCollector(configuration, { log: { info: () => {}, error: () => {} } });
  });

  afterAll(async () => {
    await collector.shutdown();
    rmSync(folder, { recursive: true, force: true });
  });

  test("H1, T17: requests that are sent without waiting are answered in their order, each in its own encoding", async () => {
    const wire = await Wire.open();
    wire.write(post(JSON_TYPE, "{}"), post(PROTOBUF_TYPE, request), post(JSON_TYPE, "{"), post(PROTOBUF_TYPE, ""));
    const answers = [await wire.answer(), await wire.answer(), await wire.answer(), await wire.answer()];
    expect(answers.map(({ status, headers }) => [status, headers.get("content-type")])).toEqual([
      [200, "application/json"],
      [200, "application/x-protobuf"],
      [400, "application/json"],
      [200, "application/x-protobuf"],
    ]);
  });

  test("H2, H4: a request may come in any pieces, chunked, and after 100 Continue", async () => {
    const wire = await Wire.open();
    const compressed = gzipSync(request);
    wire.write(`POST /v1/logs HTTP/1.1\r\n${HOST}${PROTOBUF_TYPE}Content-Encoding: gzip\r\nExpect: 100-continue\r\n`);
    wire.write("Transfer-Encoding: chunked\r\n\r\n");
    expect((await wire.answer()).status).toBe(100);
    for (const byte of compressed) wire.write("1\r\n", Buffer.from([byte]), "\r\n");
    wire.write("0\r\nTrailer: ignored\r\n\r\n");
    expect((await wire.answer()).status).toBe(200);
  });

  test("H4: an answer is not compressed, whatever it might be compressed with", async () => {
    const wire = await Wire.open();
    wire.write(post(`${JSON_TYPE}Accept-Encoding: gzip, zstd, br\r\n`, "{}"));
    const { headers, body } = await wire.answer();
    expect([headers.get("content-encoding"), body.toString()]).toEqual([undefined, "{}"]);
  });

  test("H5, T5: the connection of a body beyond the limit is used again, as sent, chunked and as a bomb", async () => {
    const wire = await Wire.open();
    const large = Buffer.alloc(MAX_BODY_BYTES + 1);
    const chunk = Buffer.concat([Buffer.from(`${large.length.toString(16)}\r\n`), large, Buffer.from("\r\n0\r\n\r\n")]);
    for (const refused of [
      post(PROTOBUF_TYPE, large),
      post(`${PROTOBUF_TYPE}Content-Encoding: gzip\r\n`, gzipSync(large)),
      Buffer.concat([
        Buffer.from(`POST /v1/logs HTTP/1.1\r\n${HOST}${PROTOBUF_TYPE}Transfer-Encoding: chunked\r\n\r\n`),
        chunk,
      ]),
    ]) {
      wire.write(refused, post(PROTOBUF_TYPE, request));
      const answer = await wire.answer();
      expect([answer.status, messageOf(answer)]).toEqual([413, expect.stringContaining(String(MAX_BODY_BYTES))]);
      expect((await wire.answer()).status).toBe(200);
    }
  });

  test.each([
    ["a line that is none", "hello there\r\n\r\n", 400],
    ["HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["headers without end", `POST /v1/logs HTTP/1.1\r\n${HOST}X-Long: ${"a".repeat(20_000)}\r\n\r\n`, 431],
    [
      "a chunk of no length",
      `POST /v1/logs HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
    ],
    [
      "two lengths that may differ",
      `POST /v1/logs HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      400,
    ],
  ])("H11: %s is answered with a Status before the connection is closed", async (_what, bytes, status) => {
    const wire = await Wire.open();
    wire.write(bytes);
    const answer = await wire.answer();
    expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "application/json"]);
    expect(messageOf(answer)?.length).toBeGreaterThan(10);
    await wire.closed();
  });

  test("H11: a request without a host, with another one or an expectation that nobody has leaves the connection usable", async () => {
    const wire = await Wire.open();
    const tail = `${PROTOBUF_TYPE}Content-Length: 0\r\n\r\n`;
    wire.write(`POST /v1/logs HTTP/1.1\r\n${tail}`, `POST /nothing HTTP/1.1\r\nHost: elsewhere.example\r\n${tail}`);
    for (const status of [400, 403]) {
      const answer = await wire.answer();
      expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "application/x-protobuf"]);
      expect(messageOf(answer)).toMatch(/host/i);
    }
    wire.write(`POST /v1/logs HTTP/1.1\r\n${HOST}Expect: the-unexpected\r\n${tail}`);
    expect((await wire.answer()).status).toBe(200);
  });

  test("H2, H11: of no type, or of two, a body is refused in JSON or taken as the first says", async () => {
    const wire = await Wire.open();
    wire.write(post("", "{}"), post(`${JSON_TYPE}${PROTOBUF_TYPE}`, "{}"));
    const [none, two] = [await wire.answer(), await wire.answer()];
    expect([none.status, none.headers.get("content-type")]).toEqual([415, "application/json"]);
    expect(messageOf(none)).toContain("application/x-protobuf");
    expect([two.status, two.headers.get("content-type")]).toEqual([200, "application/json"]);
  });
});
