import { join } from "node:path";
import { createLifecycle, type Lifecycle, type LifecycleOptions, type SdkDiagnostic } from "@agent-lifecycle/sdk";
import type { LogRecordExporter, ReadableLogRecord } from "@opentelemetry/sdk-logs";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { ManualSdkClock } from "../../kit/manual-sdk-clock.ts";

/** An exporter whose answers wait until the test gives them. */
class HeldExporter implements LogRecordExporter {
  readonly taken: ReadableLogRecord[][] = [];
  readonly #open: ((succeeds: boolean) => void)[] = [];
  isShutDown = false;

  export(records: ReadableLogRecord[], done: Parameters<LogRecordExporter["export"]>[1]): void {
    this.taken.push(records);
    this.#open.push((succeeds) => done(succeeds ? { code: 0 } : { code: 1, error: new Error("refused") }));
  }

  get inFlight(): number {
    return this.#open.length;
  }

  /** Answers the oldest open batch. */
  answer(succeeds = true): void {
    this.#open.shift()?.(succeeds);
  }

  sequences(): readonly unknown[] {
    return this.taken.flat().map((record) => record.attributes["agent_lifecycle.sequence"]);
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    this.isShutDown = true;
    return Promise.resolve();
  }
}

interface Held {
  readonly lifecycle: Lifecycle;
  readonly exporter: HeldExporter;
  readonly clock: ManualSdkClock;
  readonly diagnostics: readonly SdkDiagnostic[];
}

function held(delivery: LifecycleOptions["delivery"], options: Partial<LifecycleOptions> = {}): Held {
  const exporter = new HeldExporter();
  const clock = new ManualSdkClock();
  const diagnostics: SdkDiagnostic[] = [];
  const lifecycle = createLifecycle(
    {
      source: "unit",
      exporter,
      exitHooks: false,
      heartbeatIntervalMs: 0,
      onDiagnostic: (each) => diagnostics.push(each),
      ...(delivery === undefined ? undefined : { delivery }),
      ...options,
    },
    { clock, environment: {} },
  );
  onTestFinished(async () => {
    const closed = lifecycle.shutdown({ timeoutMs: 0 });
    await clock.advance(1_000);
    await closed;
  });
  return { lifecycle, exporter, clock, diagnostics };
}

function beat(lifecycle: Lifecycle, times: number): void {
  const child = lifecycle.child();
  for (let index = 1; index < times; index += 1) child.heartbeat();
}

function expectAccounted(lifecycle: Lifecycle): void {
  const counters = lifecycle.counters();
  const dropped = Object.values(counters.dropped).reduce((sum, count) => sum + count, 0);
  const { buffered, exported, writtenToJsonl, handedToHost, suppressed } = counters;
  expect(buffered + exported + writtenToJsonl + handedToHost + suppressed + dropped).toBe(counters.emitted);
}

describe("batches", () => {
  it("leave at once when full, the rest after the delay", async () => {
    const { lifecycle, exporter, clock } = held({ maxBatchSize: 10, scheduledDelayMs: 1_000 });
    beat(lifecycle, 25);
    await clock.advance(0);
    expect(exporter.taken.map((batch) => batch.length)).toEqual([10, 10]);
    exporter.answer();
    exporter.answer();
    await clock.advance(999);
    expect(exporter.taken).toHaveLength(2);
    await clock.advance(1);
    expect(exporter.taken.map((batch) => batch.length)).toEqual([10, 10, 5]);
  });

  it("are no more in flight than allowed", async () => {
    const { lifecycle, exporter, clock } = held({ maxBatchSize: 5, maxConcurrentExports: 3 });
    beat(lifecycle, 50);
    await clock.advance(10_000);
    expect(exporter.inFlight).toBe(3);
    exporter.answer();
    await clock.advance(0);
    expect(exporter.taken).toHaveLength(4);
    expect(exporter.inFlight).toBe(3);
  });

  it("leave early when a child ends", async () => {
    const { lifecycle, exporter, clock } = held({ scheduledDelayMs: 60_000 });
    const child = lifecycle.child();
    child.starting();
    await clock.advance(0);
    expect(exporter.taken).toHaveLength(0);
    child.failed("timeout");
    await clock.advance(0);
    expect(exporter.sequences()).toEqual([1, 2, 3]);
  });

  it("carry the event as a complete record", async () => {
    const { lifecycle, exporter, clock } = held({});
    lifecycle.child({ childId: "c", details: { name: "Ada" } }).failed("timeout");
    await clock.advance(0);
    const [, record] = exporter.taken.flat();
    expect(record).toMatchObject({
      eventName: "agent_lifecycle.terminal",
      severityNumber: 17,
      severityText: "ERROR",
      hrTime: [Date.UTC(2026, 8, 1, 9) / 1000, 0],
      attributes: {
        "agent_lifecycle.child_id": "c",
        "agent_lifecycle.state": "failed",
        "error.type": "timeout",
        "log.record.uid": expect.stringMatching(/^c\/.*\/2$/),
      },
      instrumentationScope: { name: "agent-lifecycle" },
    });
    expect(record?.resource.attributes).toMatchObject({
      "service.name": "unit",
      "service.instance.id": lifecycle.sourceEpoch,
    });
  });
});

describe("a full buffer", () => {
  it("drops signs of life before states, counts them and says so once", async () => {
    const { lifecycle, exporter, clock, diagnostics } = held({ maxBufferedEvents: 80, maxBatchSize: 80 });
    const child = lifecycle.child();
    child.starting();
    child.running();
    for (let index = 0; index < 200; index += 1) child.heartbeat();
    // 70 of 80 places are for everything, the last 10 for states.
    expect(lifecycle.counters()).toMatchObject({ buffered: 70, dropped: { buffer_full: 133 } });
    child.completed();
    expect(lifecycle.counters().dropped).toEqual({ buffer_full: 133 });
    expect(diagnostics.map(({ code }) => code)).toEqual(["events_dropped"]);
    await clock.advance(0);
    exporter.answer();
    await clock.advance(0);
    expect(exporter.sequences().at(-1)).toBe(204);
    expectAccounted(lifecycle);
  });

  it("takes a burst of 10,000 in one turn without loss, by default", async () => {
    const { lifecycle, exporter, clock } = held(undefined);
    beat(lifecycle, 10_000);
    expect(lifecycle.counters()).toMatchObject({ buffered: 10_000, dropped: {} });
    const flushed = lifecycle.flush({ timeoutMs: 1_000 });
    while (exporter.inFlight > 0) {
      exporter.answer();
      await clock.advance(0);
    }
    expect(await flushed).toEqual({ complete: true });
    expect(exporter.sequences()).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1));
  });

  it("goes to the JSONL fallback where there is one", async () => {
    const path = join(temporaryDirectory(), "fallback.jsonl");
    const { lifecycle, exporter } = held({ maxBufferedEvents: 16, maxBatchSize: 16 }, { jsonl: { path } });
    beat(lifecycle, 25);
    const flushed = lifecycle.flush();
    exporter.answer();
    expect(await flushed).toEqual({ complete: true });
    expect(exporter.sequences()).toEqual(Array.from({ length: 14 }, (_, index) => index + 1));
    expect(readEvents(path).map((event) => event.sequence)).toEqual(
      Array.from({ length: 11 }, (_, index) => index + 15),
    );
    expect(lifecycle.counters()).toMatchObject({ exported: 14, writtenToJsonl: 11, dropped: {} });
  });
});

describe("a flush", () => {
  it("waits for what was there before it and for nothing else", async () => {
    const { lifecycle, exporter, clock } = held({ maxBatchSize: 10, maxConcurrentExports: 1 });
    const child = lifecycle.child();
    const first = lifecycle.flush();
    child.heartbeat();
    const second = lifecycle.flush();
    let secondIsDone = false;
    void second.then(() => {
      secondIsDone = true;
    });
    exporter.answer();
    await clock.advance(0);
    expect(await first).toEqual({ complete: true });
    expect(secondIsDone).toBe(false);
    exporter.answer();
    await clock.advance(0);
    expect(await second).toEqual({ complete: true });
  });

  it("is complete only when batches that overtook each other are all in", async () => {
    const { lifecycle, exporter, clock } = held({ maxBatchSize: 1, maxConcurrentExports: 2 });
    beat(lifecycle, 2);
    const flushed = lifecycle.flush({ timeoutMs: 100 });
    expect(exporter.inFlight).toBe(2);
    exporter.answer();
    await clock.advance(99);
    expect(lifecycle.counters().buffered).toBe(1);
    await clock.advance(1);
    expect(await flushed).toEqual({ complete: false });
  });

  it("that runs into shutdown loses nothing, nor do events emitted after it began", async () => {
    const { lifecycle, exporter, clock } = held({ maxBatchSize: 10 });
    beat(lifecycle, 25);
    void lifecycle.flush();
    beat(lifecycle, 10);
    const closed = lifecycle.shutdown();
    while (exporter.inFlight > 0) {
      exporter.answer();
      await clock.advance(0);
    }
    expect(await closed).toEqual({ complete: true });
    expect(exporter.taken.flat()).toHaveLength(35);
    expect(exporter.isShutDown).toBe(true);
  });
});

describe("shutdown", () => {
  it("keeps its deadline with an exporter that never answers, and counts what is lost", async () => {
    const { lifecycle, clock } = held({});
    beat(lifecycle, 5);
    const closed = lifecycle.shutdown({ timeoutMs: 200 });
    await clock.advance(200);
    expect(await closed).toEqual({ complete: false });
    expect(lifecycle.counters()).toMatchObject({ buffered: 0, exported: 0, dropped: { shutdown_timeout: 5 } });
  });

  it("writes what is open at the deadline to the fallback, with the original times", async () => {
    const path = join(temporaryDirectory(), "fallback.jsonl");
    const { lifecycle, clock } = held({}, { jsonl: { path } });
    beat(lifecycle, 3);
    const closed = lifecycle.shutdown({ timeoutMs: 5_000 });
    await clock.advance(5_000);
    await closed;
    const events = readEvents(path);
    expect(events.map((event) => event.sequence)).toEqual([1, 2, 3]);
    expect(events[0]?.observedAt).toBe("2026-09-01T09:00:00.000Z");
    expect(lifecycle.counters()).toMatchObject({ writtenToJsonl: 3, dropped: {} });
  });

  it("happens once: later calls share its result, later events are dropped and counted", async () => {
    const { lifecycle, diagnostics } = held({});
    const child = lifecycle.child({ childId: "c" });
    child.cancelled();
    const closed = lifecycle.shutdown({ timeoutMs: 0 });
    expect(lifecycle.shutdown()).toBe(closed);
    child.retry();
    expect(lifecycle.counters().dropped.lifecycle_closed).toBe(1);
    expect(diagnostics.some(({ code }) => code === "lifecycle_closed")).toBe(true);
  });

  it("is safe without any child, and as the end of a scope", async () => {
    const { lifecycle, exporter } = held({});
    {
      await using scoped = lifecycle;
      expect(scoped.counters().emitted).toBe(0);
    }
    expect(exporter.isShutDown).toBe(true);
  });
});

describe("a refused batch", () => {
  it("goes to the fallback, is told once per row, and its recovery too", async () => {
    const path = join(temporaryDirectory(), "fallback.jsonl");
    const { lifecycle, exporter, clock, diagnostics } = held({ maxBatchSize: 2 }, { jsonl: { path } });
    const child = lifecycle.child();
    for (const succeeds of [false, false, true]) {
      child.heartbeat();
      const flushed = lifecycle.flush();
      exporter.answer(succeeds);
      await flushed;
      await clock.advance(0);
    }
    expect(readEvents(path).map((event) => event.sequence)).toEqual([1, 2, 3]);
    expect(lifecycle.counters()).toMatchObject({ writtenToJsonl: 3, exported: 1, dropped: {} });
    expect(diagnostics.map(({ code }) => code)).toEqual(["export_failed", "export_recovered"]);
  });

  it("is counted as dropped where there is no fallback", async () => {
    const { lifecycle, exporter, clock } = held({});
    beat(lifecycle, 3);
    const flushed = lifecycle.flush();
    exporter.answer(false);
    await clock.advance(0);
    expect(await flushed).toEqual({ complete: true });
    expect(lifecycle.counters()).toMatchObject({ exported: 0, dropped: { export_refused: 3 } });
  });

  it("that cannot be written either is counted, and nothing is thrown", async () => {
    const { lifecycle, exporter, clock, diagnostics } = held({}, { jsonl: { path: "/dev/full" } });
    beat(lifecycle, 3);
    const flushed = lifecycle.flush();
    exporter.answer(false);
    await flushed;
    await clock.advance(0);
    expect(lifecycle.counters()).toMatchObject({ buffered: 0, dropped: { jsonl_write_failed: 3 } });
    expect(diagnostics.map(({ code }) => code)).toEqual(["export_failed", "jsonl_write_failed"]);
  });
});

describe("an endpoint that is not there", () => {
  it("costs nothing while the buffer has room, and the shutdown keeps its deadline", async () => {
    const lifecycle = createLifecycle(
      { source: "unit", endpoint: `http://127.0.0.1:${await closedPort()}`, exitHooks: false },
      { environment: {} },
    );
    beat(lifecycle, 10);
    expect(await lifecycle.flush({ timeoutMs: 50 })).toEqual({ complete: false });
    expect(lifecycle.counters()).toMatchObject({ buffered: 10, dropped: {} });
    expect(await lifecycle.shutdown({ timeoutMs: 50 })).toEqual({ complete: false });
    expect(lifecycle.counters()).toMatchObject({ buffered: 0, dropped: { shutdown_timeout: 10 } });
    expect(lifecycle.counters().diagnostics).toMatchObject({ export_failed: 1 });
  });
});

describe("whatever happens", () => {
  it("every event is accounted for exactly once, at any time", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("emit" as const), count: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ kind: fc.constant("answer" as const), succeeds: fc.boolean() }),
      fc.record({ kind: fc.constant("time" as const), byMs: fc.integer({ min: 0, max: 3_000 }) }),
      fc.constant({ kind: "flush" as const }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (steps, room, hasFallback) => {
          const jsonl = hasFallback ? { path: join(temporaryDirectory(), "fallback.jsonl") } : false;
          const { lifecycle, exporter, clock } = held({ maxBufferedEvents: room, maxBatchSize: 7 }, { jsonl });
          for (const each of steps) {
            if (each.kind === "emit") beat(lifecycle, each.count);
            else if (each.kind === "answer") exporter.answer(each.succeeds);
            else if (each.kind === "flush") void lifecycle.flush();
            else await clock.advance(each.byMs);
            expectAccounted(lifecycle);
          }
          const closed = lifecycle.shutdown({ timeoutMs: 10 });
          await clock.advance(10);
          await clock.advance(1_000);
          await closed;
          expectAccounted(lifecycle);
          expect(lifecycle.counters().buffered).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});
