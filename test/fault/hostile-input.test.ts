import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { ChildView, JsonObject } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent, makeSnapshot } from "../kit/events.ts";
import { ENTRANCES, JSON_LOGS, LINES, PROTOBUF_LOGS, refusalText, SNAPSHOTS, send } from "../kit/hostile-request.ts";
import { ENCODINGS, type Encoding, ingestRequest, submit } from "../kit/submit.ts";
import { expectUnharmed } from "../kit/unharmed.ts";

function temporaryDatabase(): string {
  return join(temporaryDirectory(), "collector.db");
}

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
    const database = temporaryDatabase();
    const collector = await startCollector(database);
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
    await expectUnharmed(collector, database);
  });

  test("a body of another type is refused with 415, another method with 405, and no path with 404", async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database);
    for (const { path } of [JSON_LOGS, LINES, SNAPSHOTS]) {
      const text = await fetch(new URL(path, collector.ingestUrl), { method: "POST", body: "x" });
      expect(text.status, path).toBe(415);
      const get = await fetch(new URL(path, collector.ingestUrl));
      expect([get.status, get.headers.get("allow")], path).toEqual([405, "POST"]);
    }
    expect((await fetch(new URL("/v1/traces", collector.ingestUrl), { method: "POST" })).status).toBe(404);
    await expectUnharmed(collector, database);
  });
});

const ENTRANCE_OF = { protobuf: PROTOBUF_LOGS, json: JSON_LOGS, lines: LINES } as const satisfies Record<
  Encoding,
  unknown
>;

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
    const database = temporaryDatabase();
    const collector = await startCollector(database);
    for (const encoding of ENCODINGS) {
      const childId = `poisoned-${encoding}`;
      const event = makeEvent({ childId, state: "running", lineage: { external: true } });
      const poisoned = { ...event, details: JSON.parse(details) as JsonObject };
      const { body } = ingestRequest([poisoned], encoding);
      expect(Buffer.from(body as Uint8Array).includes("__proto__")).toBe(true);
      const answer = await send(collector.ingestUrl, ENTRANCE_OF[encoding], {
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
    await expectUnharmed(collector, database);
  });

  test("in a snapshot change nothing but what it says", async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database);
    const body = withPoisonedMembers(JSON.stringify(makeSnapshot({ children: [{ childId: "found" }] })));
    const { statusCode } = await send(collector.ingestUrl, SNAPSHOTS, { body });
    expect(statusCode).toBe(200);
    expect(await collector.get<ChildView>("/api/v1/children/runner/found")).toMatchObject({
      state: "running",
      facts: {},
    });
    await expectUnharmed(collector, database);
  });
});
