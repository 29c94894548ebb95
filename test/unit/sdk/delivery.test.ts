import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { beat, expectAccounted, held } from "./held-exporter.ts";

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

  it("do not wait for an exporter that never calls back", async () => {
    const { lifecycle, exporter, clock } = held({ maxBatchSize: 5, maxConcurrentExports: 1, exportTimeoutMs: 20_000 });
    beat(lifecycle, 5);
    await clock.advance(20_000);
    expect(lifecycle.counters()).toMatchObject({ buffered: 0, exported: 0, dropped: { export_refused: 5 } });
    // The late answer changes nothing, and the slot is free for others.
    exporter.answer();
    beat(lifecycle, 5);
    await clock.advance(0);
    exporter.answer();
    await clock.advance(0);
    expect(exporter.taken).toHaveLength(2);
    expect(lifecycle.counters()).toMatchObject({ buffered: 0, exported: 5, dropped: { export_refused: 5 } });
    expectAccounted(lifecycle);
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
