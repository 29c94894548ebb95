import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { gzipSync } from "node:zlib";
import type { AccessControl } from "@agent-lifecycle/collector/parts";
import { status as STATUS } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import { SeededRandom } from "../../kit/seeded-random.ts";
import {
  exportEvents,
  exportMessage,
  framed,
  grpcClient,
  RecordedRequests,
  rawCall,
  rawConnection,
  rawStatus,
  startGrpc,
} from "./grpc-fixture.ts";
import { otlpBody } from "./ingest-fixture.ts";
import { ManualSchedule } from "./manual-schedule.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const MEBIBYTE = 1024 * 1024;
const GZIP = { "grpc.default_compression_algorithm": 2 } as const;
const created = makeEvent({ childId: "a", state: "created", sequence: 1 });
const message = otlpBody("protobuf", [created]);

/** A request of this size that brings nothing: an unknown field, filled. */
function padded(bytes: number): Buffer {
  const head = Buffer.from([0xfa, 0x01, 0, 0, 0, 0]);
  const length = bytes - head.length;
  for (let index = 0; index < 4; index += 1)
    head[index + 2] = ((length >> (7 * index)) & 0x7f) | (index < 3 ? 0x80 : 0);
  return Buffer.concat([head, Buffer.alloc(length)]);
}

/** What a client does with a call whose headers it has sent. */
type Act = (stream: ClientHttp2Stream) => unknown;

/** Everybody is who the token says. */
const BY_NAME: AccessControl = {
  authorize: (scope, { authorization = "" }) => ({
    allowed: true,
    principal: { name: authorization, scopes: new Set([scope]), sources: undefined },
  }),
};

/** A call whose message is begun and not finished. */
function stalledCall(session: ClientHttp2Session, sender = ""): ClientHttp2Stream {
  const stream = rawCall(session, { authorization: sender });
  stream.write(framed(message).subarray(0, 20));
  return stream;
}

describe("the size of a message over OTLP/gRPC", () => {
  it("may be 5 MB and not 65 MB, as sent and decompressed (T14)", async () => {
    const intake = new ScriptedIntake();
    const requests = new RecordedRequests();
    const receiver = await startGrpc(intake, { telemetry: requests });
    for (const client of [grpcClient(receiver), grpcClient(receiver, undefined, GZIP)]) {
      expect(await exportMessage(client, padded(5_000_000))).toMatchObject({ code: STATUS.OK });
      expect(await exportMessage(client, padded(64 * MEBIBYTE))).toMatchObject({ code: STATUS.OK });
      // Without RetryInfo: it would be as large the next time.
      expect(await exportMessage(client, padded(64 * MEBIBYTE + 1))).toMatchObject({
        code: STATUS.RESOURCE_EXHAUSTED,
        details: {},
      });
      expect(await exportEvents(client, [created])).toMatchObject({ code: STATUS.OK });
    }
    const outcomes = ["accepted", "accepted", "rejected", "accepted"].map((outcome) => `otlp_grpc ${outcome}`);
    expect(requests.outcomes).toEqual([...outcomes, ...outcomes]);
  });

  it("is refused by what its frame says, before it is there", async () => {
    const session = await rawConnection(await startGrpc(new ScriptedIntake(), { maxMessageBytes: 1_000 }));
    const stream = rawCall(session);
    stream.write(framed(Buffer.alloc(1_001)).subarray(0, 5));
    expect(await rawStatus(stream)).toBe(STATUS.RESOURCE_EXHAUSTED);
  });

  it("is watched while it is decompressed: a bomb takes no more than the largest message", async () => {
    const receiver = await startGrpc(new ScriptedIntake(), { maxMessageBytes: 4 * MEBIBYTE });
    const session = await rawConnection(receiver);
    const packed = framed(gzipSync(Buffer.alloc(400 * MEBIBYTE)), true);
    let highest = 0;
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 5; round += 1) {
      const stream = rawCall(session, { "grpc-encoding": "gzip" });
      stream.end(packed);
      expect(await rawStatus(stream)).toBe(STATUS.RESOURCE_EXHAUSTED);
      highest = Math.max(highest, process.memoryUsage().rss);
    }
    expect(highest - before).toBeLessThan(100 * MEBIBYTE);
  });

  it("of the metadata is bounded too, and the connection stays usable", async () => {
    const requests = new RecordedRequests();
    const client = grpcClient(await startGrpc(new ScriptedIntake(), { telemetry: requests }));
    const metadata = { "x-padding": "p".repeat(100_000) };
    expect((await exportMessage(client, message, { metadata })).code).not.toBe(STATUS.OK);
    expect(await exportMessage(client, message)).toMatchObject({ code: STATUS.OK });
    expect(requests.outcomes).toEqual(["otlp_grpc accepted"]);
  });
});

describe("the number of messages over OTLP/gRPC that are received at one time", () => {
  it("is bounded, and many calls on one connection all come through", async () => {
    const intake = new ScriptedIntake();
    const receiver = await startGrpc(intake, { maxMessageBytes: MEBIBYTE, maxBodiesBytes: 2 * MEBIBYTE });
    const client = grpcClient(receiver, undefined, GZIP);
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      exportEvents(client, [makeEvent({ childId: `child-${index}`, state: "created", sequence: 1 })]),
    );
    const results = await Promise.all(calls);
    expect(results.filter(({ code }) => code !== STATUS.OK)).toEqual([]);
    expect(
      new Set(intake.candidates.map((candidate) => (candidate as { readonly childId: string }).childId)).size,
    ).toBe(1_000);
  });

  it("leaves room for others beside a sender whose messages never end", async () => {
    const schedule = new ManualSchedule();
    const receiver = await startGrpc(new ScriptedIntake(), {
      schedule: schedule.schedule,
      access: BY_NAME,
      maxMessageBytes: MEBIBYTE,
      maxBodiesBytes: 2 * MEBIBYTE,
    });
    const session = await rawConnection(receiver);
    for (let count = 0; count < 3; count += 1) stalledCall(session, "slow");
    await schedule.planned(3);
    const metadata = { authorization: "quick" };
    expect(await exportMessage(grpcClient(receiver), message, { metadata })).toMatchObject({ code: STATUS.OK });
  });

  it("counts messages that are being stored by their size", async () => {
    const intake = new ScriptedIntake();
    const gate = Promise.withResolvers<void>();
    intake.gate = gate.promise;
    const schedule = new ManualSchedule();
    const receiver = await startGrpc(intake, {
      schedule: schedule.schedule,
      maxMessageBytes: MEBIBYTE,
      maxBodiesBytes: MEBIBYTE + 2 * message.length,
    });
    const client = grpcClient(receiver);
    // The third finds room, since two small ones are all there is; the fourth does not.
    const stored = [exportMessage(client, message), exportMessage(client, message), exportMessage(client, message)];
    await schedule.planned(3);
    await schedule.cancelled(3);
    const fourth = exportMessage(client, message);
    await schedule.planned(4);
    schedule.run(3);
    expect(await fourth).toMatchObject({
      code: STATUS.UNAVAILABLE,
      details: { RetryInfo: { retryDelay: { seconds: 1 } } },
    });
    gate.resolve();
    for (const result of await Promise.all(stored)) expect(result.code).toBe(STATUS.OK);
    expect(await exportMessage(client, message)).toMatchObject({ code: STATUS.OK });
  });

  it("lets only so many wait, and asks the others to come back", async () => {
    const requests = new RecordedRequests();
    const schedule = new ManualSchedule();
    const receiver = await startGrpc(new ScriptedIntake(), {
      telemetry: requests,
      schedule: schedule.schedule,
      maxMessageBytes: MEBIBYTE,
      maxBodiesBytes: MEBIBYTE,
      maxWaitingCalls: 1,
    });
    const session = await rawConnection(receiver);
    const receiving = stalledCall(session);
    const waiting = stalledCall(session);
    await schedule.planned(2);
    expect(await exportMessage(grpcClient(receiver), message)).toMatchObject({
      code: STATUS.UNAVAILABLE,
      details: { RetryInfo: { retryDelay: { seconds: 1 } } },
    });
    receiving.end(framed(message).subarray(20));
    expect(await rawStatus(receiving)).toBe(STATUS.OK);
    waiting.end(framed(message).subarray(20));
    expect(await rawStatus(waiting)).toBe(STATUS.OK);
    expect(requests.outcomes).toEqual(["overloaded", "accepted", "accepted"].map((outcome) => `otlp_grpc ${outcome}`));
  });

  it("is given back by a message that does not come in time", async () => {
    const requests = new RecordedRequests();
    const schedule = new ManualSchedule();
    const receiver = await startGrpc(new ScriptedIntake(), {
      telemetry: requests,
      schedule: schedule.schedule,
      maxMessageBytes: MEBIBYTE,
      maxBodiesBytes: MEBIBYTE,
      receiveTimeoutMs: 1_234,
    });
    const stalled = stalledCall(await rawConnection(receiver));
    await schedule.planned(1);
    expect(schedule.delayMs(0)).toBe(1_234);
    const next = exportMessage(grpcClient(receiver), message);
    await schedule.planned(2);
    schedule.run(0);
    expect(await rawStatus(stalled)).toBe(STATUS.DEADLINE_EXCEEDED);
    expect(await next).toMatchObject({ code: STATUS.OK });
    expect(requests.outcomes).toEqual(["otlp_grpc aborted", "otlp_grpc accepted"]);
  });

  it.each([
    ["cancels", (stream: ClientHttp2Stream) => stream.close(8)],
    ["vanishes", (stream: ClientHttp2Stream) => stream.session?.destroy()],
  ])("is given back by a client that %s in the middle of a message", async (_name, leave) => {
    const requests = new RecordedRequests();
    const schedule = new ManualSchedule();
    const receiver = await startGrpc(new ScriptedIntake(), {
      telemetry: requests,
      schedule: schedule.schedule,
      maxMessageBytes: MEBIBYTE,
      maxBodiesBytes: MEBIBYTE,
    });
    const stalled = stalledCall(await rawConnection(receiver));
    await schedule.planned(1);
    const next = exportMessage(grpcClient(receiver), message);
    await schedule.planned(2);
    leave(stalled);
    expect(await next).toMatchObject({ code: STATUS.OK });
    expect(requests.outcomes).toEqual(["otlp_grpc aborted", "otlp_grpc accepted"]);
  });

  it("is kept when a client sends a second message after a first, small one", async () => {
    const schedule = new ManualSchedule();
    const receiver = await startGrpc(new ScriptedIntake(), {
      schedule: schedule.schedule,
      maxMessageBytes: MEBIBYTE,
      maxBodiesBytes: MEBIBYTE,
    });
    const stream = rawCall(await rawConnection(receiver));
    stream.write(Buffer.concat([framed(message), framed(message).subarray(0, 20)]));
    await schedule.planned(1);
    const next = exportMessage(grpcClient(receiver), message);
    await schedule.planned(2);
    // It waits for its turn, and is told so.
    schedule.run(1);
    expect(await next).toMatchObject({ code: STATUS.UNAVAILABLE });
    schedule.run(0);
    expect(await rawStatus(stream)).toBe(STATUS.DEADLINE_EXCEEDED);
  });

  it("is given back whole, whatever clients do", async () => {
    const random = new SeededRandom(20_261_201);
    const schedule = new ManualSchedule();
    const requests = new RecordedRequests();
    const places = 3;
    const receiver = await startGrpc(new ScriptedIntake(), {
      access: BY_NAME,
      schedule: schedule.schedule,
      telemetry: requests,
      maxMessageBytes: MEBIBYTE,
      maxBodiesBytes: places * MEBIBYTE,
    });
    const session = await rawConnection(receiver);
    const whole = framed(message);
    const acts: readonly [Act, ...Act[]] = [
      (stream) => stream.end(whole),
      (stream) => stream.end(),
      (stream) => stream.end(whole.subarray(0, 20)),
      (stream) => stream.end(framed(gzipSync(message), true)),
      (stream) => stream.end(Buffer.concat([whole, whole])),
      (stream) => stream.end(framed(Buffer.alloc(MEBIBYTE + 1)).subarray(0, 100)),
      (stream) => stream.close(8),
      (stream) => stream.write(whole, () => stream.close(8)),
      (stream) => stream.write(whole.subarray(0, 20), () => stream.close(8)),
    ];
    const rounds = 300;
    for (let round = 0; round < rounds; round += 1) {
      const stream = rawCall(session, { authorization: `sender-${round % 3}`, "grpc-encoding": "gzip" });
      const closed = once(stream, "close");
      stream.resume();
      random.pick(acts)(stream);
      if (random.next() < 0.2) await closed;
    }
    await once(rawCall(session, { authorization: "last" }).end(whole).resume(), "close");
    // As many as there are places, each with a message that does not end: all of them are being received.
    const before = schedule.plannedCount;
    const stalled = Array.from({ length: places }, (_, index) => stalledCall(session, `stalled-${index}`));
    await schedule.planned(before + places);
    for (let index = 0; index < places; index += 1) schedule.run(before + index);
    for (const stream of stalled) expect(await rawStatus(stream)).toBe(STATUS.DEADLINE_EXCEEDED);
  });
});
