import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { decodeExportResponseProtobuf, encodeLogsProtobuf, type LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { JSON_LOGS, LINES, PROTOBUF_LOGS, refusalText, SNAPSHOTS, send } from "../kit/hostile-request.ts";
import { logsOf, ReflectedRequest, recordOf } from "../kit/otlp-logs.ts";
import { memoryOf } from "../kit/process-memory.ts";
import { submit } from "../kit/submit.ts";
import { expectUnharmed } from "../kit/unharmed.ts";

const MEBIBYTE = 1024 * 1024;
/** The default limit of one body, which may be held once; and what the runtime needs around it. */
const MAX_GROWTH_OF_ONE_BODY = (64 + 64) * MEBIBYTE;

function temporaryDatabase(): string {
  return join(temporaryDirectory(), "collector.db");
}

/** About a megabyte that unpacks to a gibibyte: sixteen members of zeros. */
function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(64 * MEBIBYTE));
  return Buffer.concat(Array.from({ length: 16 }, () => member));
}

function listsOf(bytes: number): string {
  return `{"x":[${"[],".repeat(bytes / 3)}1]}`;
}

function otlpBytes(events: readonly LifecycleEvent[]): Uint8Array {
  return encodeLogsProtobuf(logsOf(...events.map(recordOf)));
}

describe("more than can be held", () => {
  test("a gzip bomb is refused with 413 while other senders are served, and memory stays flat (H5)", {
    timeout: 60_000,
  }, async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database);
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
    await expectUnharmed(collector, database);
  });

  test("many bombs at once are refused, some of them with the request to come back", { timeout: 60_000 }, async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database);
    const before = memoryOf(collector.pid);
    const bomb = { body: gzipBomb(), contentEncoding: "gzip" };
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(collector.ingestUrl, PROTOBUF_LOGS, bomb)));
    for (const { statusCode, retryAfter } of answers) {
      expect([413, 503]).toContain(statusCode);
      expect(retryAfter !== null).toBe(statusCode === 503);
    }
    // Four bodies of the largest size are held at one time, and no more.
    expect(memoryOf(collector.pid).peakBytes - before.residentBytes).toBeLessThan(4 * MAX_GROWTH_OF_ONE_BODY);
    await expectUnharmed(collector, database);
  });

  test("details that would become twenty times their text are not parsed, and cost their own record alone", async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database);
    const before = memoryOf(collector.pid);
    const children = ["before", "exploding", "after"];
    const events = children.map((childId) => makeEvent({ childId, sequence: 0, state: "created", details: { x: 1 } }));
    const logs = ReflectedRequest.toObject(ReflectedRequest.decode(otlpBytes(events)), { longs: String });
    for (const attribute of logs.resourceLogs[0].scopeLogs[0].logRecords[1].attributes) {
      if (attribute.key === "agent_lifecycle.details") attribute.value = { stringValue: listsOf(60 * MEBIBYTE) };
    }
    const body = gzipSync(ReflectedRequest.encode(ReflectedRequest.fromObject(logs)).finish());
    expect(body.length).toBeLessThan(MEBIBYTE);
    const answer = await send(collector.ingestUrl, PROTOBUF_LOGS, { body, contentEncoding: "gzip" });
    expect(decodeExportResponseProtobuf(answer.body)).toMatchObject({
      rejectedLogRecords: 1,
      errorMessage: expect.stringContaining("record 1: details") as string,
    });
    // The body, and the text out of it.
    expect(memoryOf(collector.pid).peakBytes - before.residentBytes).toBeLessThan(3 * MAX_GROWTH_OF_ONE_BODY);
    await expectUnharmed(collector, database);
  });

  test("a line of 300 MB is not held, and costs none of the lines around it", async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database);
    const before = memoryOf(collector.pid);
    const around = ["first", "last"].map((childId) =>
      JSON.stringify(makeEvent({ childId, sequence: 0, state: "created" })),
    );
    const answer = await send(collector.ingestUrl, LINES, {
      body: longLineBetween(around[0] ?? "", around[1] ?? "", 300),
    });
    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      accepted: 2,
      rejected: 1,
      diagnostics: [{ line: 2, code: "oversize" }],
    });
    for (const childId of ["first", "last"]) expect(await historyOf(collector, "runner", childId)).toHaveLength(1);
    // What is read and thrown away is collected when the runtime sees fit; the line itself is never there at once.
    expect(memoryOf(collector.pid).peakBytes - before.residentBytes).toBeLessThan(128 * MEBIBYTE);
    await expectUnharmed(collector, database);
  });

  test("a body that only says it is small is counted as it comes", async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database, ["--max-body-bytes", "10000"]);
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
    await expectUnharmed(collector, database);
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
