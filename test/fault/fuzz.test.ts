import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { decodeExportResponseJson, decodeExportResponseProtobuf, type LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { mutatedBytes, noise } from "../fuzz/mutations.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent, makeSnapshot } from "../kit/events.ts";
import {
  type Answer,
  ENTRANCES,
  type Entrance,
  type HostileRequest,
  refusalText,
  send,
} from "../kit/hostile-request.ts";
import { memoryOf } from "../kit/process-memory.ts";
import { SeededRandom } from "../kit/seeded-random.ts";
import { ENCODINGS, ingestRequest } from "../kit/submit.ts";
import { expectUnharmed } from "../kit/unharmed.ts";

const REQUESTS_PER_ENTRANCE = 1_000;
const CONCURRENCY = 8;
const RAW_CONNECTIONS = 200;
const MAX_GROWTH_BYTES = 128 * 1024 * 1024;

const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000);

/** A request that would be accepted as it is: mutations of it get further into a decoder than noise does. */
function validBody({ path, contentType }: Entrance): Buffer {
  if (path.endsWith("snapshots")) {
    return Buffer.from(
      JSON.stringify(makeSnapshot({ children: [{ childId: "child-1", activity: "works" }, { childId: "child-2" }] })),
    );
  }
  const events: readonly LifecycleEvent[] = [
    makeEvent({ sequence: 0, state: "created", details: { name: "reviewer", usage: { inputTokens: 12 } } }),
    makeEvent({ sequence: 1, state: "starting", at: 1, capabilities: { heartbeat: "known" } }),
    makeEvent({ sequence: 2, kind: "activity", activity: "reads", at: 2, lineage: { parentChildId: "child-0" } }),
  ];
  const encoding = ENCODINGS.find((candidate) => ingestRequest(events, candidate).contentType === contentType);
  if (encoding === undefined) throw new Error(`no encoding has the type ${contentType}`);
  return Buffer.from(ingestRequest(events, encoding).body as Uint8Array);
}

function hostileRequest(random: SeededRandom, valid: Buffer): HostileRequest {
  const body = random.below(4) === 0 ? noise(random, 2_000) : mutatedBytes(random, valid);
  return random.pick<() => HostileRequest>([
    () => ({ body }),
    () => ({ body }),
    () => ({ body: gzipSync(body), contentEncoding: "gzip" }),
    () => ({ body: zstdCompressSync(body), contentEncoding: "zstd" }),
    () => ({ body: mutatedBytes(random, gzipSync(body)), contentEncoding: "gzip" }),
    () => ({ body: mutatedBytes(random, zstdCompressSync(body)), contentEncoding: "zstd" }),
    () => ({ body, contentEncoding: "gzip" }),
  ])();
}

/** Whatever came in: it was taken and answered as such, or refused in the form that the entrance promises. */
function expectProperAnswer(entrance: Entrance, answer: Answer): void {
  const { statusCode, contentType, body } = answer;
  if (statusCode !== 200) {
    const refusals = entrance.path.endsWith("snapshots") ? [400, 413, 422] : [400, 413];
    expect(refusals).toContain(statusCode);
    expect(contentType).toBe(entrance.refusalType);
    expect(refusalText(answer).length).toBeGreaterThan(5);
    return;
  }
  if (entrance.path !== "/v1/logs") {
    expect(contentType).toMatch(/^application\/json/);
    expect(JSON.parse(body.toString())).toHaveProperty("diagnostics");
    return;
  }
  expect(contentType).toBe(entrance.contentType);
  const isProtobuf = entrance.contentType === "application/x-protobuf";
  expect(
    isProtobuf ? decodeExportResponseProtobuf(body) : decodeExportResponseJson(JSON.parse(body.toString())),
  ).toBeDefined();
}

async function fuzz(
  collector: CollectorProcess,
  entrance: Entrance,
  random: SeededRandom,
): Promise<ReadonlyMap<number, number>> {
  const valid = validBody(entrance);
  const statuses = new Map<number, number>();
  let left = REQUESTS_PER_ENTRANCE;
  const sendNext = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const request = hostileRequest(random, valid);
      const answer = await send(collector.ingestUrl, entrance, request);
      try {
        expectProperAnswer(entrance, answer);
      } catch (error) {
        const sent = `${request.contentEncoding ?? "identity"} ${Buffer.from(request.body as Uint8Array).toString("base64")}`;
        throw new Error(`${entrance.path} ${entrance.contentType}: ${sent}`, { cause: error });
      }
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sendNext));
  return statuses;
}

describe("whatever bytes come in, each request gets a proper answer and the collector lives on", () => {
  test(`${REQUESTS_PER_ENTRANCE} random requests at every entrance`, { timeout: 120_000 }, async () => {
    console.log(`fuzz: FUZZ_SEED=${seed}`);
    const database = join(temporaryDirectory(), "collector.db");
    const collector = await startCollector(database);
    const before = memoryOf(collector.pid);
    for (const [index, entrance] of ENTRANCES.entries()) {
      const statuses = await fuzz(collector, entrance, new SeededRandom(seed + index));
      // Some got through the decoder and some did not, or it was not this that was tested.
      const understood = (statuses.get(200) ?? 0) + (statuses.get(422) ?? 0);
      expect(understood, entrance.contentType).toBeGreaterThan(REQUESTS_PER_ENTRANCE / 50);
      expect(statuses.get(400), entrance.contentType).toBeGreaterThan(REQUESTS_PER_ENTRANCE / 50);
    }
    expect(memoryOf(collector.pid).residentBytes - before.residentBytes).toBeLessThan(MAX_GROWTH_BYTES);
    await expectUnharmed(collector, database);
  });

  test("bytes that are no HTTP, on either port", { timeout: 60_000 }, async () => {
    const database = join(temporaryDirectory(), "collector.db");
    const collector = await startCollector(database);
    const random = new SeededRandom(seed);
    const head = Buffer.from("POST /v1/logs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\nhello");
    for (let connection = 0; connection < RAW_CONNECTIONS; connection += 1) {
      const url = new URL(connection % 2 === 0 ? collector.ingestUrl : collector.apiUrl);
      const socket = connect(Number(url.port), url.hostname);
      // A reset is an answer, too.
      socket.on("error", () => {});
      socket.resume();
      socket.end(connection % 3 === 0 ? noise(random, 500) : mutatedBytes(random, head));
      await once(socket, "close");
    }
    await expectUnharmed(collector, database);
  });
});
