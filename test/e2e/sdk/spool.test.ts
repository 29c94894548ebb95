import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { createLifecycle } from "@agent-lifecycle/sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { ManualSdkClock } from "../../kit/manual-sdk-clock.ts";
import { type HostProcess, startHost } from "./host-process.ts";
import { type Answer, answerWith, hang, startLogsServer } from "./logs-server.ts";
import { emitSome, STATES, start } from "./running-lifecycle.ts";

interface Spooling {
  readonly port: number;
  /** The process whose events are looked for. */
  first(...argv: readonly string[]): HostProcess;
  /** Starts the endpoint and another process, and resolves with what that one delivered of the first one's events. */
  delivered(count: number): Promise<readonly LifecycleEvent[]>;
}

async function spooling(port?: number): Promise<Spooling> {
  const used = port ?? (await closedPort());
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${used}`,
    AGENT_LIFECYCLE_SPOOL: temporaryDirectory(),
  };
  return {
    port: used,
    first: (...argv) => startHost("host.mjs", argv, environment),
    delivered: async (count) => {
      const server = await startLogsServer([], used);
      const next = startHost("host.mjs", ["adopting", String(count)], { ...environment, HOST_EPOCH: "next" });
      await next.line(`adopted ${count}`);
      expect(await next.end).toMatchObject({ code: 0, stderr: "" });
      return server.accepted().filter(({ sourceEpoch }) => sourceEpoch === "epoch");
    },
  };
}

function sequencesTo(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

describe("a process whose endpoint is away leaves its events to the next one", () => {
  const cases = [
    ["when its loop runs dry", "return", 0, "completed"],
    ["and keeps its own exit code", "return-with-code", 7, "completed"],
    ["on process.exit right after the last event", "process-exit", 3, "completed"],
    ["on process.exit after a shutdown", "awaited-exit", 4, "completed"],
    ["on an uncaught exception", "uncaught-exception", 1, "failed"],
    ["on an unhandled rejection", "unhandled-rejection", 1, "failed"],
    ["when it lives for 50 ms only", "short", 0, "completed"],
    ["with what an exit listener of the host emits", "exit-listener", 0, "completed"],
  ] as const;
  for (const [what, how, code, last] of cases) {
    it(what, async () => {
      const { first, delivered } = await spooling();
      expect(await first(how).end).toMatchObject({ code, signal: null });
      const events = await delivered(5);
      expect(events.map(({ sequence }) => sequence)).toEqual(sequencesTo(5));
      expect(events.at(-1)?.state).toBe(last);
    });
  }

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`on ${signal}, by which it dies`, async () => {
      const { first, delivered } = await spooling();
      const host = first("signal");
      await host.line("ready");
      host.process.kill(signal);
      expect(await host.end).toMatchObject({ code: null, signal });
      expect((await delivered(4)).map(({ sequence }) => sequence)).toEqual(sequencesTo(4));
    });
  }

  it("when it is killed, as far as they were on disk", async () => {
    const { first, delivered } = await spooling();
    const host = first("spooled-and-waiting");
    await host.line("spooled 4");
    host.process.kill("SIGKILL");
    expect(await host.end).toMatchObject({ signal: "SIGKILL" });
    expect((await delivered(4)).map(({ sequence }) => sequence)).toEqual(sequencesTo(4));
  });

  it("also a burst of 100,000 in one turn", async () => {
    const { first, delivered } = await spooling();
    expect(await first("burst", "100000").end).toMatchObject({ code: 0, signal: null });
    const events = await delivered(100_004);
    expect(events.map(({ sequence }) => sequence)).toEqual(sequencesTo(100_004));
  }, 60_000);
});

it("a burst of 100,000 in one turn is sent, and what the end of the process cuts off is sent by the next one", async () => {
  const server = await startLogsServer();
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint,
    AGENT_LIFECYCLE_SPOOL: temporaryDirectory(),
  };
  expect(await startHost("host.mjs", ["burst", "100000"], environment).end).toMatchObject({ code: 0, stderr: "" });
  const left = 100_004 - new Set(server.accepted().map(({ sequence }) => sequence)).size;
  await startHost("host.mjs", ["adopting", String(left)], { ...environment, HOST_EPOCH: "next" }).end;
  const sequences = server.accepted().filter(({ sourceEpoch }) => sourceEpoch === "epoch");
  expect(new Set(sequences.map(({ sequence }) => sequence)).size).toBe(100_004);
}, 60_000);

describe("an endpoint that never answers", () => {
  const silent: Answer[] = Array.from({ length: 100 }, () => hang);

  it("holds the end up to the deadline, and the events are the next one's", async () => {
    const server = await startLogsServer(silent);
    const { first, delivered } = await spooling(server.port);
    expect(await first("return").end).toMatchObject({ code: 0, signal: null });
    await server.stop();
    expect((await delivered(5)).map(({ state }) => state)).toEqual([
      "created",
      "starting",
      "running",
      undefined,
      "completed",
    ]);
  });

  it("costs a shutdown its deadline and no event", async () => {
    const server = await startLogsServer(silent);
    const { lifecycle } = start({ endpoint: server.endpoint, spool: { directory: temporaryDirectory() } });
    emitSome(lifecycle);
    expect(await lifecycle.shutdown({ timeoutMs: 100 })).toEqual({ complete: false });
    expect(lifecycle.counters()).toMatchObject({ spooled: 5, buffered: 0, dropped: {} });
  });
});

describe("a Retry-After", () => {
  it("longer than the patience sends everything to the spool, and nothing asks again before its time", async () => {
    const server = await startLogsServer([answerWith(503, { "retry-after": "3600" })]);
    const clock = new ManualSdkClock();
    const lifecycle = createLifecycle(
      {
        source: "e2e",
        endpoint: server.endpoint,
        exitHooks: false,
        heartbeatIntervalMs: 0,
        spool: { directory: temporaryDirectory() },
      },
      { environment: {}, clock },
    );
    onTestFinished(async () => {
      const closed = lifecycle.shutdown({ timeoutMs: 0 });
      await clock.advance(1_000);
      await closed;
    });
    emitSome(lifecycle);
    const flushed = lifecycle.flush();
    await server.requestCount(1);
    expect(await flushed).toEqual({ complete: true });
    expect(lifecycle.counters()).toMatchObject({ spooled: 5, exported: 0, dropped: {} });
    await clock.advance(3_599_000);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    emitSome(lifecycle);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1_000);
    await server.acceptedCount(10);
    expect(server.accepted().map(({ state }) => state)).toEqual([...STATES, ...STATES]);
  });

  it("holds back every batch, not only the one that heard it", async () => {
    const server = await startLogsServer([answerWith(429, { "retry-after": "60" })]);
    const clock = new ManualSdkClock();
    const lifecycle = createLifecycle(
      { source: "e2e", endpoint: server.endpoint, exitHooks: false, heartbeatIntervalMs: 0 },
      { environment: {}, clock },
    );
    onTestFinished(async () => {
      const closed = lifecycle.shutdown({ timeoutMs: 0 });
      await clock.advance(1_000);
      await closed;
    });
    emitSome(lifecycle);
    void lifecycle.flush({ timeoutMs: 1_000_000 });
    await server.requestCount(1);
    // The answer is on its way: it has been read when the diagnostic is there.
    while (lifecycle.counters().diagnostics.export_failed === undefined) await new Promise(setImmediate);
    emitSome(lifecycle);
    await clock.advance(59_000);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1_000);
    await server.acceptedCount(10);
  });
});

it("an outage of the endpoint is survived by a process that goes on: everything comes, in order", async () => {
  const gone = await startLogsServer();
  const { lifecycle } = start({
    endpoint: gone.endpoint,
    spool: { directory: temporaryDirectory() },
    delivery: { scheduledDelayMs: 10 },
  });
  const child = lifecycle.child({ childId: "worker" });
  child.starting();
  await lifecycle.flush();
  await gone.stop();
  child.running();
  await lifecycle.flush();
  for (let index = 0; index < 2_000; index += 1) child.heartbeat();
  await lifecycle.flush();
  expect(lifecycle.counters()).toMatchObject({ spooled: 2_001, dropped: {} });
  const back = await startLogsServer([], gone.port);
  while (lifecycle.counters().spooled > 0) await lifecycle.flush();
  child.completed();
  await lifecycle.flush();
  const sequences = [...gone.accepted(), ...back.accepted()].map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequencesTo(2_004));
  expect(lifecycle.counters()).toMatchObject({ emitted: 2_004, exported: 2_004, replayed: 2_001, buffered: 0 });
});

it("reasons that an endpoint gives for rejected events can be read", async () => {
  const body = '{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"record 3: sequence"}}';
  const json = { "content-type": "application/json" };
  const server = await startLogsServer([answerWith(200, json, body), answerWith(200, json, body)]);
  const { lifecycle } = start({ endpoint: server.endpoint });
  emitSome(lifecycle);
  await lifecycle.flush();
  emitSome(lifecycle);
  await lifecycle.flush();
  expect(lifecycle.counters()).toMatchObject({
    exported: 6,
    dropped: { rejected_by_endpoint: 4 },
    rejections: [{ message: "record 3: sequence", count: 4 }],
  });
});
