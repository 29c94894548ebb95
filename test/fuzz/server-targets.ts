import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type Collector, resolveConfiguration, startCollector } from "@agent-lifecycle/collector";
import {
  decodeExportResponseJson,
  decodeExportResponseProtobuf,
  decodeStatusJson,
  decodeStatusProtobuf,
  encodeLogsJson,
} from "@agent-lifecycle/proto";
import { logsOf, recordOf } from "../kit/otlp-logs.ts";
import type { SeededRandom } from "../kit/seeded-random.ts";
import { EVENTS, PROTOBUF_LOGS } from "./events.ts";
import { mutatedBytes, mutatedTokens, noise } from "./mutations.ts";
import { expectThat, type FuzzTarget, type OpenTarget, one } from "./target.ts";
import { mutatedMessage } from "./wire-mutations.ts";

const JSON_LOGS = encodeLogsJson(logsOf(...EVENTS.map(recordOf)));
const LOGS_EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
const MAX_BODY_BYTES = 64 * 1024;

interface RunningCollector {
  readonly collector: Collector;
  /** Ends it, and throws when it found a fault of its own. */
  close(): Promise<void>;
}

async function runCollector(): Promise<RunningCollector> {
  const folder = mkdtempSync(join(tmpdir(), "agent-lifecycle-"));
  const endpoint = { port: 0 };
  const { configuration } = resolveConfiguration({
    storage: { path: join(folder, "collector.db") },
    receivers: {
      otlp: {
        protocols: {
          http: { endpoint, maxRequestBodyBytes: MAX_BODY_BYTES },
          grpc: { endpoint, maxRequestBodyBytes: MAX_BODY_BYTES },
        },
      },
    },
    api: { endpoint },
  });
  const faults: string[] = [];
  const collector = await startCollector(configuration, {
    log: { info: () => {}, error: (members, text) => faults.push(`${text} ${JSON.stringify(members)}`) },
  });
  return {
    collector,
    close: async () => {
      await collector.shutdown();
      rmSync(folder, { recursive: true, force: true });
      expectThat(faults.length === 0, `the collector found faults of its own: ${faults.join("; ")}`);
    },
  };
}

type Encoding = "protobuf" | "json";
const TYPES: Readonly<Record<Encoding, string>> = { protobuf: "application/x-protobuf", json: "application/json" };

function brokenBody(random: SeededRandom, encoding: Encoding): Buffer {
  const valid = encoding === "json" ? Buffer.from(JSON_LOGS) : PROTOBUF_LOGS;
  return one(random, [
    () => valid,
    () => noise(random, 400),
    () => mutatedBytes(random, valid),
    () => (encoding === "json" ? Buffer.from(mutatedTokens(random, JSON_LOGS)) : mutatedMessage(random, valid)),
    // Little as sent, and more than is allowed when it is decompressed.
    () => Buffer.alloc(MAX_BODY_BYTES + random.below(2), 0x20),
  ])();
}

interface Coded {
  readonly coding: string;
  readonly bytes: Buffer;
}

/** A stream as its coding has it, in one member or two, or broken anywhere. */
function coded(random: SeededRandom, body: Buffer, codings: readonly string[]): Coded {
  const coding = one(random, codings);
  const compress = coding === "zstd" ? zstdCompressSync : gzipSync;
  if (coding === "identity") return { coding, bytes: body };
  const cut = random.below(body.length + 1);
  const bytes = one(random, [
    () => compress(body),
    () => Buffer.concat([compress(body.subarray(0, cut)), compress(body.subarray(cut))]),
    () => mutatedBytes(random, compress(body)),
    () => compress(body).subarray(0, random.below(40)),
    () => Buffer.concat([compress(body), noise(random, 20)]),
    () => body,
  ])();
  return { coding, bytes };
}

interface HttpAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** HTTP requests with anything for a body, in any coding: each gets the answer that OTLP has for it. */
async function openHttp(): Promise<OpenTarget> {
  const running = await runCollector();
  const agent = new Agent({ keepAlive: true });
  const send = ({ bytes, coding }: Coded, encoding: Encoding): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": TYPES[encoding], "content-encoding": coding, "content-length": bytes.length };
      const url = new URL("/v1/logs", running.collector.ingestUrl);
      const sending = request(url, { method: "POST", agent, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            contentType: answer.headers["content-type"],
            body: Buffer.concat(chunks),
          }),
        );
      });
      sending.on("error", reject);
      sending.end(bytes);
    });
  return {
    judge: async (random) => {
      const encoding = one(random, ["protobuf", "json"] as const);
      const content = brokenBody(random, encoding);
      const before = running.collector.reader.lastInputId();
      const answer = await send(coded(random, content, ["identity", "gzip", "zstd"]), encoding);
      const { status, contentType, body } = answer;
      expectThat([200, 400, 413].includes(status), `answered ${status}`);
      expectThat(contentType === TYPES[encoding], `answered with the type ${contentType}`);
      expectThat(body.length < 8_192, "an answer without bound");
      const read = (decode: { json: (value: unknown) => unknown; protobuf: (bytes: Buffer) => unknown }): unknown =>
        encoding === "json" ? decode.json(JSON.parse(body.toString())) : decode.protobuf(body);
      if (status === 200) {
        const outcome = read({ json: decodeExportResponseJson, protobuf: decodeExportResponseProtobuf });
        expectThat(outcome !== undefined, "no export response");
        return;
      }
      expectThat(
        read({ json: decodeStatusJson, protobuf: decodeStatusProtobuf }) !== undefined,
        "a refusal without Status",
      );
      expectThat(running.collector.reader.lastInputId() === before, "a refused request has left something");
    },
    close: async () => {
      agent.destroy();
      await running.close();
    },
  };
}

/** Codes that a client is told for what it sent: none of them asks it to send the same again. */
const FINAL_CODES = [0, 3, 8, 12, 13];
const PREFACE_BYTES = 5;

/** gRPC calls with anything for a message, a prefix that lies, and any number of frames. */
async function openGrpc(): Promise<OpenTarget> {
  const running = await runCollector();
  let session: ClientHttp2Session | undefined;
  const connected = (): ClientHttp2Session => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(running.collector.grpcUrl ?? "");
      session.on("error", () => {});
    }
    return session;
  };
  const call = (bytes: Buffer, coding: string, pieces: number): Promise<number> =>
    new Promise((resolve) => {
      let code = -1;
      const look = (headers: Readonly<Record<string, unknown>>): void => {
        if (headers["grpc-status"] !== undefined) code = Number(headers["grpc-status"]);
      };
      const stream = connected().request({
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: LOGS_EXPORT,
        [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
        [constants.HTTP2_HEADER_TE]: "trailers",
        "grpc-encoding": coding,
      });
      stream.on("response", look);
      stream.on("trailers", look);
      stream.on("error", () => {});
      stream.on("close", () => resolve(code));
      stream.resume();
      const length = Math.ceil(bytes.length / pieces);
      for (let at = 0; at < bytes.length; at += length) stream.write(bytes.subarray(at, at + length));
      stream.end();
    });
  const frameOf = (random: SeededRandom, message: Buffer, isCompressed: boolean): Buffer => {
    const prefix = Buffer.alloc(PREFACE_BYTES);
    prefix.writeUInt8(random.below(12) === 0 ? random.below(256) : isCompressed ? 1 : 0, 0);
    const length =
      random.below(8) === 0
        ? random.below(2 ** 32)
        : message.length + (random.below(8) === 0 ? random.below(9) - 4 : 0);
    prefix.writeUInt32BE(Math.max(0, length), 1);
    return Buffer.concat([prefix, message]);
  };
  return {
    judge: async (random) => {
      const { bytes, coding } = coded(random, brokenBody(random, "protobuf"), ["identity", "gzip"]);
      const frames = [frameOf(random, bytes, coding !== "identity")];
      if (random.below(10) === 0) frames.push(frameOf(random, bytes, coding !== "identity"));
      const all = Buffer.concat(frames);
      const before = running.collector.reader.lastInputId();
      const code = await call(
        random.below(10) === 0 ? all.subarray(0, random.below(all.length)) : all,
        coding,
        1 + random.below(4),
      );
      expectThat(FINAL_CODES.includes(code), `answered ${code}`);
      if (code !== 0)
        expectThat(running.collector.reader.lastInputId() === before, "a refused call has left something");
    },
    close: async () => {
      session?.destroy();
      await running.close();
    },
  };
}

export const SERVER_TARGETS: readonly FuzzTarget[] = [
  { name: "otlp-http", weight: 0.3, open: openHttp },
  { name: "otlp-grpc", weight: 0.3, open: openGrpc },
];
