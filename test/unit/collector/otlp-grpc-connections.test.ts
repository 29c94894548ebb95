import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { createOtlpGrpcReceiver } from "@agent-lifecycle/collector/parts";
import { status as STATUS } from "@grpc/grpc-js";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeComponent } from "../../kit/component-suite.ts";
import { makeEvent } from "../../kit/events.ts";
import {
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

const message = otlpBody("protobuf", [makeEvent({ childId: "a", state: "created", sequence: 1 })]);

const PLAIN = {
  intake: new ScriptedIntake(),
  telemetry: new RecordedRequests(),
  port: 0,
  onError: (error: unknown): void => {
    throw error;
  },
};

describeComponent("the OTLP/gRPC receiver", {
  create: async () => ({ component: createOtlpGrpcReceiver(PLAIN) }),
  createUnable: async () => {
    const first = createOtlpGrpcReceiver(PLAIN);
    await first.start();
    const port = Number(new URL(first.endpoint()).port);
    return { component: createOtlpGrpcReceiver({ ...PLAIN, port }), dispose: () => first.shutdown() };
  },
});

describe("the listener of OTLP/gRPC", () => {
  it("says which port is taken, in the system's own words", async () => {
    const port = Number(new URL((await startGrpc(new ScriptedIntake())).endpoint()).port);
    const faults: unknown[] = [];
    const second = createOtlpGrpcReceiver({ ...PLAIN, port, onError: (error) => faults.push(error) });
    await expect(second.start()).rejects.toMatchObject({ code: "EADDRINUSE", port, address: "127.0.0.1" });
    await second.shutdown();
    expect(faults).toEqual([]);
  });

  it("takes no more connections than it may", async () => {
    const receiver = await startGrpc(new ScriptedIntake(), { maxConnections: 1 });
    const first = await rawConnection(receiver);
    const second = connectHttp2(receiver.endpoint());
    onTestFinished(() => second.destroy());
    second.on("error", () => {});
    await once(second, "close");
    const stream = rawCall(first);
    stream.end(framed(message));
    expect(await rawStatus(stream)).toBe(STATUS.OK);
  });

  it("closes a connection on which nothing is called", async () => {
    const session = await rawConnection(await startGrpc(new ScriptedIntake(), { idleTimeoutMs: 100 }));
    await once(session, "close");
  });

  it("closes a connection that says nothing at all", async () => {
    const { hostname, port } = new URL((await startGrpc(new ScriptedIntake(), { idleTimeoutMs: 100 })).endpoint());
    const socket = connect({ host: hostname, port: Number(port) });
    onTestFinished(() => void socket.destroy());
    socket.resume();
    await once(socket, "close");
  });

  it("closes a connection whose peer answers no ping", async () => {
    const receiver = await startGrpc(new ScriptedIntake(), { keepaliveIntervalMs: 50, keepaliveTimeoutMs: 50 });
    const { hostname, port } = new URL(receiver.endpoint());
    const socket = connect({ host: hostname, port: Number(port) });
    onTestFinished(() => void socket.destroy());
    // The preface and empty settings, and then silence.
    socket.write(
      Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from("000000040000000000", "hex")]),
    );
    socket.resume();
    await once(socket, "close");
  });

  it("keeps a connection whose peer answers its pings, and closes it at its age", async () => {
    const receiver = await startGrpc(new ScriptedIntake(), {
      keepaliveIntervalMs: 20,
      keepaliveTimeoutMs: 5_000,
      maxConnectionAgeMs: 200,
    });
    const session = await rawConnection(receiver);
    let pings = 0;
    session.on("ping", () => {
      pings += 1;
    });
    const [goaway] = await Promise.all([once(session, "goaway"), once(session, "close")]);
    expect(goaway[0]).toBe(0);
    expect(pings).toBeGreaterThan(0);
  });

  it("survives what is no HTTP/2", async () => {
    const intake = new ScriptedIntake();
    const receiver = await startGrpc(intake);
    const { hostname, port } = new URL(receiver.endpoint());
    for (const bytes of [
      "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
      "\u0000".repeat(100),
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense",
    ]) {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on("error", () => {});
      onTestFinished(() => void socket.destroy());
      socket.end(bytes);
      socket.resume();
      await once(socket, "close");
    }
    expect(await exportMessage(grpcClient(receiver), message)).toMatchObject({ code: STATUS.OK });
  });
});

describe("the shutdown of OTLP/gRPC", () => {
  it("answers the calls that run, refuses those that wait, and takes no more", async () => {
    const intake = new ScriptedIntake();
    const gate = Promise.withResolvers<void>();
    intake.gate = gate.promise;
    const schedule = new ManualSchedule();
    const receiver = await startGrpc(intake, {
      schedule: schedule.schedule,
      maxMessageBytes: message.length,
      maxBodiesBytes: message.length,
    });
    const client = grpcClient(receiver);
    const running = exportMessage(client, message);
    await schedule.cancelled(1);
    const waiting = exportMessage(client, message);
    await schedule.planned(2);
    const shutdown = receiver.shutdown();
    expect(await waiting).toMatchObject({
      code: STATUS.UNAVAILABLE,
      text: "the collector is shutting down",
      details: { RetryInfo: { retryDelay: { seconds: 1 } } },
    });
    gate.resolve();
    expect(await running).toMatchObject({ code: STATUS.OK });
    await shutdown;
    expect(intake.received).toHaveLength(1);
    expect(await exportMessage(client, message)).toMatchObject({ code: STATUS.UNAVAILABLE });
    expect(() => receiver.endpoint()).toThrow("the receiver is not listening");
  });

  it("cuts calls that do not end in time, and still waits for what they brought", async () => {
    const intake = new ScriptedIntake();
    const gate = Promise.withResolvers<void>();
    intake.gate = gate.promise;
    const schedule = new ManualSchedule();
    const receiver = await startGrpc(intake, { schedule: schedule.schedule, shutdownTimeoutMs: 4_321 });
    const stored = exportMessage(grpcClient(receiver), message);
    await schedule.cancelled(1);
    const unfinished = rawCall(await rawConnection(receiver));
    unfinished.write(framed(message).subarray(0, 9));
    await schedule.planned(2);
    let isDown = false;
    const shutdown = receiver.shutdown().then(() => {
      isDown = true;
    });
    await schedule.planned(3);
    expect(schedule.delayMs(2)).toBe(4_321);
    schedule.run(2);
    expect((await stored).code).not.toBe(STATUS.OK);
    await once(unfinished, "close");
    expect(isDown).toBe(false);
    gate.resolve();
    await shutdown;
    expect(intake.received).toHaveLength(1);
  });
});
