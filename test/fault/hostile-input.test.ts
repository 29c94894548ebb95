import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { ChildView, JsonObject } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent, makeSnapshot } from "../kit/events.ts";
import { ENTRANCES, type Entrance, refusalText, send } from "../kit/hostile-request.ts";
import { memoryOf } from "../kit/process-memory.ts";
import { ENCODINGS, ingestRequest, submit } from "../kit/submit.ts";

const MEBIBYTE = 1024 * 1024;
/** The default limit of one body, which may be held once; and what the runtime needs around it. */
const MAX_GROWTH_OF_ONE_BODY = (64 + 64) * MEBIBYTE;

function startTestCollector(): Promise<CollectorProcess> {
  return startCollector(join(temporaryDirectory(), "collector.db"));
}

function entrance(path: string, contentType: string): Entrance {
  const found = ENTRANCES.find((candidate) => candidate.path === path && candidate.contentType === contentType);
  if (found === undefined) throw new Error(`no such entrance: ${path} ${contentType}`);
  return found;
}

const PROTOBUF_LOGS = entrance("/v1/logs", "application/x-protobuf");
const JSON_LOGS = entrance("/v1/logs", "application/json");
const LINES = entrance("/v1/lifecycle/events", "application/x-ndjson");
const SNAPSHOTS = entrance("/v1/lifecycle/snapshots", "application/json");

/** The collector still does its work, in every encoding, and complained of no fault of its own. */
async function expectUnharmed(collector: CollectorProcess): Promise<void> {
  for (const encoding of ENCODINGS) {
    const childId = `after-${encoding}`;
    const events = [
      makeEvent({ childId, sequence: 0, state: "created" }),
      makeEvent({ childId, sequence: 1, state: "starting", at: 1 }),
    ];
    expect(await submit(collector.ingestUrl, events, encoding)).toMatchObject({ rejected: 0 });
    const child = await collector.get<ChildView>(`/api/v1/children/runner/${childId}`);
    expect(child).toMatchObject({ state: "starting", highestSequence: 1, provisional: false });
  }
  const { exitCode, stderr } = await collector.endBy("SIGTERM");
  expect(exitCode).toBe(0);
  const levels = stderr.toString().trimEnd().split("\n").map((line) => (JSON.parse(line) as { readonly level: number }).level);
  expect(Math.max(...levels)).toBe(INFORMATION);
}

/** pino's number of it. */
const INFORMATION = 30;

const CUT_GZIP = gzipSync("{}".repeat(10_000)).subarray(0, 40);
const DEEP_LIST = "[".repeat(100_000) + "]".repeat(100_000);
const DEEP_OBJECT = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;

describe("what cannot be read is refused in the sender's own language (H3, H11, H12)", () => {
  const cases = [
    ["a field that runs past its message", [PROTOBUF_LOGS], { body: Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x0f]) }, 400],
    ["a wire type that does not exist", [PROTOBUF_LOGS], { body: Buffer.from([0x0f, 0x01]) }, 400],
    ["a varint without an end", [PROTOBUF_LOGS], { body: Buffer.alloc(64, 0xff) }, 400],
    ["nothing where JSON should be", [JSON_LOGS, SNAPSHOTS], { body: "" }, 400],
    ["JSON that is cut", [JSON_LOGS, SNAPSHOTS], { body: '{"resourceLogs":[{"scopeLogs":' }, 400],
    ["JSON of another shape", [JSON_LOGS], { body: '{"resourceLogs":"no list"}' }, 400],
    ["bytes that are no UTF-8", [JSON_LOGS, SNAPSHOTS], { body: Buffer.from([0x7b, 0xc3, 0x28, 0x7d]) }, 400],
    ["lists 100,000 deep", [JSON_LOGS, SNAPSHOTS, PROTOBUF_LOGS], { body: DEEP_LIST }, 400],
    ["objects 100,000 deep", [JSON_LOGS, SNAPSHOTS, PROTOBUF_LOGS], { body: DEEP_OBJECT }, 400],
    ["gzip that is cut", ENTRANCES, { body: CUT_GZIP, contentEncoding: "gzip" }, 400],
    ["gzip that is none", ENTRANCES, { body: "plain", contentEncoding: "gzip" }, 400],
    ["a coding that nobody has", ENTRANCES, { body: "{}", contentEncoding: "br" }, 415],
  ] as const;

  test("and the connection, the collector and its data are as before", async () => {
    const collector = await startTestCollector();
    for (const [what, entrances, request, statusCode] of cases) {
      for (const entered of entrances) {
        const label = `${what}: ${entered.path} ${entered.contentType}`;
        const answer = await send(collector.ingestUrl, entered, request);
        expect(answer.statusCode, label).toBe(statusCode);
        expect(answer.contentType, label).toBe(entered.refusalType);
        expect(refusalText(answer).length, label).toBeGreaterThan(10);
        expect(answer.body.length, label).toBeLessThan(1_000);
      }
    }
    await expectUnharmed(collector);
  });

  test("a body of another type is refused with 415, another method with 405, and no path with 404", async () => {
    const collector = await startTestCollector();
    for (const { path } of [JSON_LOGS, LINES, SNAPSHOTS]) {
      const text = await fetch(new URL(path, collector.ingestUrl), { method: "POST", body: "x" });
      expect(text.status, path).toBe(415);
      const get = await fetch(new URL(path, collector.ingestUrl));
      expect([get.status, get.headers.get("allow")], path).toEqual([405, "POST"]);
    }
    expect((await fetch(new URL("/v1/traces", collector.ingestUrl), { method: "POST" })).status).toBe(404);
    await expectUnharmed(collector);
  });
});

describe("members that name prototypes (N5)", () => {
  const poison = '{"exitCode":77,"polluted":true}';
  /** Puts such members into every object. */
  const poisonedEverywhere = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(poisonedEverywhere);
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value).map(([name, member]) => [name, poisonedEverywhere(member)] as const);
    return Object.assign(JSON.parse(`{"__proto__":${poison},"constructor":${poison}}`), Object.fromEntries(members));
  };
  const withPoisonedMembers = (json: Uint8Array | string): string =>
    JSON.stringify(poisonedEverywhere(JSON.parse(Buffer.from(json as Uint8Array).toString())));
  const details = `{"__proto__":${poison},"constructor":{"prototype":${poison}},"prototype":${poison},"inner":{"__proto__":${poison}}}`;

  test("are members like any other, or nothing: no fact comes of them, and no other child sees them", async () => {
    const collector = await startTestCollector();
    for (const encoding of ENCODINGS) {
      const childId = `poisoned-${encoding}`;
      const event = makeEvent({ childId, state: "running", lineage: { external: true } });
      const poisoned = { ...event, details: JSON.parse(details) as JsonObject };
      const { path, contentType, body } = ingestRequest([poisoned], encoding);
      expect(Buffer.from(body as Uint8Array).includes("__proto__")).toBe(true);
      const answer = await send(collector.ingestUrl, entrance(path, contentType), {
        body: encoding === "protobuf" ? body : withPoisonedMembers(body),
      });
      expect(answer.statusCode, encoding).toBe(200);
      expect(await historyOf(collector, "runner", childId), encoding).toMatchObject([{ status: "applied" }]);
      const child = await collector.get<ChildView>(`/api/v1/children/runner/${childId}`);
      expect(child, encoding).toMatchObject({ state: "running", facts: {} });
    }
    const harmless = makeEvent({ childId: "harmless", state: "running", lineage: { external: true }, details: {} });
    await submit(collector.ingestUrl, [harmless]);
    expect(await collector.get<ChildView>("/api/v1/children/runner/harmless")).toMatchObject({ facts: {} });
    await expectUnharmed(collector);
  });

  test("in a snapshot change nothing but what it says", async () => {
    const collector = await startTestCollector();
    const body = withPoisonedMembers(JSON.stringify(makeSnapshot({ children: [{ childId: "found" }] })));
    const { statusCode } = await send(collector.ingestUrl, SNAPSHOTS, { body });
    expect(statusCode).toBe(200);
    expect(await collector.get<ChildView>("/api/v1/children/runner/found")).toMatchObject({ state: "running", facts: {} });
    await expectUnharmed(collector);
  });
});

/** About a megabyte that unpacks to a gibibyte: sixteen members of zeros. */
function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(64 * MEBIBYTE));
  return Buffer.concat(Array.from({ length: 16 }, () => member));
}

describe("more than can be held", () => {
  test("a gzip bomb is refused with 413 while other senders are served, and memory stays flat (H5)", { timeout: 60_000 }, async () => {
    const collector = await startTestCollector();
    const bomb = { body: gzipBomb(), contentEncoding: "gzip" };
    expect(bomb.body.length).toBeLessThan(1.1 * MEBIBYTE);
    const before = memoryOf(collector.pid);
    for (const entered of [PROTOBUF_LOGS, JSON_LOGS, SNAPSHOTS]) {
      const answer = await send(collector.ingestUrl, entered, bomb);
      expect(answer.statusCode).toBe(413);
      expect(refusalText(answer)).toContain("67108864 bytes");
    }
    // Lines are never held, so that there is no limit to break: a gibibyte without a line break is one bad line.
    const exploding = send(collector.ingestUrl, LINES, bomb);
    const served = makeEvent({ childId: "served meanwhile", sequence: 0, state: "created" });
    const first = await Promise.race([
      submit(collector.ingestUrl, [served]).then(() => "served"),
      exploding.then(() => "exploded"),
    ]);
    expect(first).toBe("served");
    const exploded = await exploding;
    expect(exploded.statusCode).toBe(200);
    expect(JSON.parse(exploded.body.toString())).toMatchObject({
      accepted: 0,
      rejected: 1,
      diagnostics: [{ code: "oversize" }],
    });
    expect(memoryOf(collector.pid).peakBytes - before.residentBytes).toBeLessThan(MAX_GROWTH_OF_ONE_BODY);
    await expectUnharmed(collector);
  });

  test("many bombs at once are refused, some of them with the request to come back", { timeout: 60_000 }, async () => {
    const collector = await startTestCollector();
    const before = memoryOf(collector.pid);
    const bomb = { body: gzipBomb(), contentEncoding: "gzip" };
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(collector.ingestUrl, PROTOBUF_LOGS, bomb)));
    for (const { statusCode, retryAfter } of answers) {
      expect([413, 503]).toContain(statusCode);
      expect(retryAfter !== null).toBe(statusCode === 503);
    }
    // Four bodies of the largest size are held at one time, and no more.
    expect(memoryOf(collector.pid).peakBytes - before.residentBytes).toBeLessThan(4 * MAX_GROWTH_OF_ONE_BODY);
    await expectUnharmed(collector);
  });

  test("a line of 100 MB costs no memory and none of the lines around it", async () => {
    const collector = await startTestCollector();
    // What a first request needs once is no cost of the line.
    await send(collector.ingestUrl, LINES, { body: longLineBetween("", "", 5) });
    const before = memoryOf(collector.pid);
    const around = ["first", "last"].map((childId) => JSON.stringify(makeEvent({ childId, sequence: 0, state: "created" })));
    const answer = await send(collector.ingestUrl, LINES, { body: longLineBetween(around[0] ?? "", around[1] ?? "", 100) });
    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      accepted: 2,
      rejected: 1,
      diagnostics: [{ line: 2, code: "oversize" }],
    });
    for (const childId of ["first", "last"]) expect(await historyOf(collector, "runner", childId)).toHaveLength(1);
    expect(memoryOf(collector.pid).peakBytes - before.peakBytes).toBeLessThan(48 * MEBIBYTE);
    await expectUnharmed(collector);
  });

  test("a body that only says it is small is counted as it comes", async () => {
    const collector = await startCollector(join(temporaryDirectory(), "collector.db"), ["--max-body-bytes", "10000"]);
    for (const entered of [PROTOBUF_LOGS, JSON_LOGS, SNAPSHOTS]) {
      const chunked = new ReadableStream<Uint8Array>({
        start: (stream) => {
          for (let chunk = 0; chunk < 20; chunk += 1) stream.enqueue(Buffer.alloc(1_000, "["));
          stream.close();
        },
      });
      expect((await send(collector.ingestUrl, entered, { body: chunked })).statusCode).toBe(413);
      expect((await send(collector.ingestUrl, entered, { body: Buffer.alloc(20_000, "[") })).statusCode).toBe(413);
    }
    await expectUnharmed(collector);
  });
});

function longLineBetween(first: string, last: string, megabytes: number): ReadableStream<Uint8Array> {
  const piece = Buffer.alloc(MEBIBYTE, "x");
  return ReadableStream.from(
    (function* () {
      yield Buffer.from(`${first}\n`);
      for (let megabyte = 0; megabyte < megabytes; megabyte += 1) yield piece;
      yield Buffer.from(`\n${last}\n`);
    })(),
  );
}
