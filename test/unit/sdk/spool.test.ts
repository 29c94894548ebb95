import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { beat, expectAccounted, type Held, held } from "./held-exporter.ts";

const RETRY_MS = 500;

function away(
  spool: Record<string, unknown> = {},
  delivery: Record<string, number> = {},
): Held & { directory: string } {
  const directory = temporaryDirectory();
  return {
    directory,
    ...held({ maxBatchSize: 10, ...delivery }, { spool: { directory, ...spool } }),
  };
}

/** The endpoint does not take what it is offered now. */
async function refuseAll({ exporter, clock }: Held): Promise<void> {
  while (exporter.inFlight > 0) exporter.answer(false);
  await clock.advance(0);
}

/** The endpoint takes everything from now on. */
async function takeAll({ exporter, clock }: Held): Promise<void> {
  for (let idle = 0; idle < 3; idle += 1) {
    await clock.advance(RETRY_MS * 20);
    while (exporter.inFlight > 0) {
      idle = 0;
      exporter.answer();
      await clock.advance(0);
    }
  }
}

function fileInTheWay(): string {
  const path = join(temporaryDirectory(), "file");
  writeFileSync(path, "in the way");
  return path;
}

const UNWRITABLE: readonly (readonly [string, () => string])[] = [
  ["a file is in the way", fileInTheWay],
  // Where a folder is there and takes no other, as in /proc.
  ...(process.platform === "linux"
    ? ([["no folder can be made", () => "/proc/no-such-folder/nor-this"]] as const)
    : []),
];

function segments(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(directory, name));
}

describe("an endpoint that is away", () => {
  it("has everything written to the spool, in order, and a flush is complete with that", async () => {
    const spooling = away();
    const { lifecycle, directory } = spooling;
    beat(lifecycle, 25);
    const flushed = lifecycle.flush();
    await refuseAll(spooling);
    expect(await flushed).toEqual({ complete: true });
    expect(lifecycle.counters()).toMatchObject({ buffered: 0, spooled: 25, exported: 0, dropped: {} });
    const lines = segments(directory).flatMap((path) => readFileSync(path, "utf8").trimEnd().split("\n"));
    expect(lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual(
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
  });

  it("gets it all when it is back: in order, with the original times, as old evidence, newer events behind it", async () => {
    const spooling = away();
    const { lifecycle, exporter, clock, directory } = spooling;
    beat(lifecycle, 15);
    void lifecycle.flush();
    await refuseAll(spooling);
    exporter.taken.length = 0;
    await clock.advance(100);
    beat(lifecycle, 10);
    await takeAll(spooling);
    expect(exporter.sequences()).toEqual([
      ...Array.from({ length: 15 }, (_, index) => index + 1),
      ...Array.from({ length: 10 }, (_, index) => index + 1),
    ]);
    const [first] = exporter.taken.flat();
    expect(first?.hrTime).toEqual([Date.UTC(2026, 8, 1, 9) / 1000, 0]);
    expect(first?.attributes["agent_lifecycle.backfill"]).toBe(true);
    expect(first?.resource.attributes).toMatchObject({
      "service.name": "unit",
      "service.instance.id": lifecycle.sourceEpoch,
    });
    expect(lifecycle.counters()).toMatchObject({ exported: 25, replayed: 25, spooled: 0, buffered: 0 });
    expect(segments(directory)).toEqual([]);
  });

  it("is followed by plain delivery again, which leaves no mark and no file", async () => {
    const spooling = away();
    const { lifecycle, exporter } = spooling;
    beat(lifecycle, 5);
    void lifecycle.flush();
    await refuseAll(spooling);
    await takeAll(spooling);
    exporter.taken.length = 0;
    beat(lifecycle, 3);
    void lifecycle.flush();
    await takeAll(spooling);
    expect(exporter.taken.flat().map((record) => record.attributes["agent_lifecycle.backfill"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(lifecycle.counters()).toMatchObject({ exported: 8, replayed: 5 });
  });

  it("keeps the trace that an event belongs to", async () => {
    const spooling = away();
    const spanContext = {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      traceFlags: 1,
    };
    // The context manager of a host is not needed for this: the record carries what the logger saw.
    const active = trace.setSpanContext(ROOT_CONTEXT, spanContext);
    context.setGlobalContextManager({
      active: () => active,
      with: (_context, run, self, ...parameters) => run.call(self as never, ...parameters),
      bind: (_context, target) => target,
      enable() {
        return this;
      },
      disable() {
        return this;
      },
    });
    try {
      beat(spooling.lifecycle, 2);
      void spooling.lifecycle.flush();
      await refuseAll(spooling);
      beat(spooling.lifecycle, 1);
    } finally {
      context.disable();
    }
    spooling.exporter.taken.length = 0;
    await takeAll(spooling);
    expect(spooling.exporter.taken.flat().map((record) => record.spanContext)).toEqual([
      spanContext,
      spanContext,
      spanContext,
    ]);
  });

  it("is asked again and again, at most every ten seconds", async () => {
    const spooling = away();
    const { lifecycle, exporter, clock } = spooling;
    beat(lifecycle, 3);
    void lifecycle.flush();
    await refuseAll(spooling);
    const attempts: number[] = [];
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1_000);
      if (exporter.inFlight > 0) attempts.push(second);
      await refuseAll(spooling);
    }
    expect(attempts.length).toBeGreaterThan(4);
    expect(attempts.length).toBeLessThan(14);
    expect(lifecycle.counters()).toMatchObject({ spooled: 3 });
  });
});

describe("the spool", () => {
  it("is for its owner alone", async () => {
    const spooling = away();
    beat(spooling.lifecycle, 1);
    void spooling.lifecycle.flush();
    await refuseAll(spooling);
    const [segment = ""] = segments(spooling.directory);
    expect(statSync(segment).mode & 0o777).toBe(0o600);
    expect(statSync(join(segment, "..")).mode & 0o777).toBe(0o700);
  });

  it("takes a burst that the buffer does not hold, in order", async () => {
    const spooling = away({}, { maxBufferedEvents: 100 });
    const { lifecycle, exporter } = spooling;
    beat(lifecycle, 1_000);
    exporter.taken.length = 0;
    await takeAll(spooling);
    expect(exporter.sequences()).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
    expectAccounted(lifecycle);
    expect(lifecycle.counters()).toMatchObject({ exported: 1_000, dropped: {} });
  });

  it("holds no more than it may, keeps room for states, and counts what it does not hold", async () => {
    const spooling = away({ maxBytes: 65_536 });
    const { lifecycle } = spooling;
    const child = lifecycle.child();
    child.starting();
    for (let index = 0; index < 1_000; index += 1) child.heartbeat();
    void lifecycle.flush();
    await refuseAll(spooling);
    await spooling.clock.advance(0);
    child.failed("timeout");
    void lifecycle.flush();
    await refuseAll(spooling);
    const { spooled, dropped } = lifecycle.counters();
    expect(spooled).toBeGreaterThan(100);
    expect(dropped).toEqual({ spool_full: 1_003 - spooled });
    const text = segments(spooling.directory)
      .map((path) => readFileSync(path, "utf8"))
      .join("");
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).toContain('"state":"failed"');
    expectAccounted(lifecycle);
  });

  it("that cannot be written leaves events in memory, and they are sent from there", async () => {
    const directory = fileInTheWay();
    const spooling = held({ maxBatchSize: 10 }, { spool: { directory } });
    const { lifecycle, diagnostics } = spooling;
    beat(lifecycle, 5);
    const heard = (): readonly string[] => diagnostics.map(({ code }) => code);
    await spooling.clock.advance(1_000);
    await refuseAll(spooling);
    await spooling.clock.advance(0);
    // The patience with the endpoint ends after 30 s; nothing is lost meanwhile.
    for (let second = 0; second < 40; second += 1) {
      await spooling.clock.advance(1_000);
      await refuseAll(spooling);
    }
    expect(lifecycle.counters()).toMatchObject({ buffered: 5, dropped: {} });
    expect(heard()).toEqual(["export_failed", "spool_failed"]);
    await takeAll(spooling);
    expect(lifecycle.counters()).toMatchObject({ exported: 5, buffered: 0, dropped: {} });
  });

  it.each(UNWRITABLE)("that cannot be written at the end, because %s, is a counted drop", async (_why, place) => {
    const { lifecycle, clock } = held({}, { spool: { directory: place() } });
    beat(lifecycle, 5);
    const closed = lifecycle.shutdown({ timeoutMs: 10 });
    await clock.advance(600);
    await closed;
    expect(lifecycle.counters()).toMatchObject({ buffered: 0, spooled: 0, dropped: { spool_write_failed: 5 } });
  });

  it("whose lines were damaged gives what is whole, and counts the rest", async () => {
    const spooling = away();
    const { lifecycle, exporter, directory } = spooling;
    beat(lifecycle, 5);
    void lifecycle.flush();
    await refuseAll(spooling);
    const [segment = ""] = segments(directory);
    const lines = readFileSync(segment, "utf8").split("\n");
    lines[1] = '{"no":"event"}';
    lines[3] = lines[3]?.slice(0, 20) ?? "";
    writeFileSync(segment, lines.join("\n"));
    exporter.taken.length = 0;
    // The batch that was being tried had been read before: the next process reads the file.
    const closed = lifecycle.shutdown({ timeoutMs: 0 });
    await spooling.clock.advance(1_000);
    await closed;
    const next = held({}, { spool: { directory } });
    await takeAll(next);
    expect(next.exporter.sequences()).toEqual([1, 3, 5]);
    expect(next.lifecycle.counters()).toMatchObject({ adopted: 3, emitted: 0 });
    expect(next.diagnostics.map(({ code }) => code)).toContain("spool_failed");
  });
});

describe("a spool that was left behind", () => {
  async function leave(directory: string, events: number): Promise<void> {
    const gone = held({ maxBatchSize: 10 }, { spool: { directory } });
    beat(gone.lifecycle, events);
    const closed = gone.lifecycle.shutdown({ timeoutMs: 10 });
    await gone.clock.advance(600);
    await closed;
    expect(gone.lifecycle.counters()).toMatchObject({ spooled: events, buffered: 0, dropped: {} });
  }

  it("is sent by the next one, under the names of who wrote it, and is gone then", async () => {
    const directory = temporaryDirectory();
    await leave(directory, 25);
    const next = held({}, { spool: { directory }, source: "another" });
    await takeAll(next);
    expect(next.exporter.sequences()).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(next.exporter.taken.flat()[0]?.resource.attributes["service.name"]).toBe("unit");
    expect(next.lifecycle.counters()).toMatchObject({ emitted: 0, exported: 0, adopted: 25 });
    expect(segments(directory)).toEqual([]);
  });

  it("in several parts is sent in the order in which they were begun", async () => {
    const directory = temporaryDirectory();
    for (let part = 0; part < 8; part += 1) await leave(directory, part + 1);
    const next = held({}, { spool: { directory } });
    await takeAll(next);
    const ends = next.exporter.taken.map((batch) => batch.length);
    expect(ends).toEqual(Array.from({ length: 8 }, (_, index) => index + 1));
  });

  it("is sent by exactly one of many", async () => {
    const directory = temporaryDirectory();
    await leave(directory, 30);
    const many = [1, 2, 3].map(() => held({}, { spool: { directory } }));
    for (const each of many) await takeAll(each);
    const adopted = many.map(({ lifecycle }) => lifecycle.counters().adopted);
    expect(adopted.sort()).toEqual([0, 0, 30]);
  });

  it("is left to the next one again by one that is shut down before it has sent it, and lives on", async () => {
    const directory = temporaryDirectory();
    await leave(directory, 25);
    const between = held({ maxBatchSize: 10 }, { spool: { directory } });
    await between.clock.advance(0);
    between.exporter.answer();
    await between.clock.advance(0);
    const closed = between.lifecycle.shutdown({ timeoutMs: 10 });
    await between.clock.advance(600);
    await closed;
    expect(between.lifecycle.counters().adopted).toBe(10);
    const next = held({}, { spool: { directory } });
    await takeAll(next);
    expect(next.lifecycle.counters().adopted).toBe(15);
    expect(segments(directory)).toEqual([]);
  });

  it("goes nowhere but to the endpoint it was meant for", async () => {
    const directory = temporaryDirectory();
    await leave(directory, 5);
    const [destination = ""] = readdirSync(directory);
    mkdirSync(join(directory, "ffffffffffffffff"), { mode: 0o700 });
    const [folder = ""] = readdirSync(join(directory, destination));
    const { renameSync } = await import("node:fs");
    renameSync(join(directory, destination, folder), join(directory, "ffffffffffffffff", folder));
    const next = held({}, { spool: { directory } });
    await takeAll(next);
    expect(next.lifecycle.counters().adopted).toBe(0);
    expect(segments(directory)).toHaveLength(1);
  });

  it("of a living process is not touched", async () => {
    const spooling = away();
    beat(spooling.lifecycle, 5);
    void spooling.lifecycle.flush();
    await refuseAll(spooling);
    const before = segments(spooling.directory);
    const other = held({}, { spool: { directory: spooling.directory } });
    await takeAll(other);
    expect(other.lifecycle.counters().adopted).toBe(0);
    expect(segments(spooling.directory)).toEqual(before);
  });

  it("is no way to make us read a file elsewhere", async () => {
    const directory = temporaryDirectory();
    await leave(directory, 1);
    const [destination = ""] = readdirSync(directory);
    const elsewhere = temporaryDirectory();
    writeFileSync(join(elsewhere, "1.jsonl"), "{}\n");
    symlinkSync(elsewhere, join(directory, destination, "p0.s.b.n.h00000000.00000000000-00000000"));
    const next = held({}, { spool: { directory } });
    await takeAll(next);
    expect(next.lifecycle.counters().adopted).toBe(1);
    expect(readdirSync(elsewhere)).toEqual(["1.jsonl"]);
  });

  it("that cannot be read costs nothing but itself", async () => {
    const directory = temporaryDirectory();
    await leave(directory, 2);
    const [segment = ""] = segments(directory);
    chmodSync(segment, 0o000);
    const next = held({}, { spool: { directory } });
    beat(next.lifecycle, 2);
    await takeAll(next);
    expect(next.lifecycle.counters()).toMatchObject({ exported: 2, dropped: {} });
  });
});

it("with a spool too, every event is accounted for exactly once, at any time", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("emit" as const), count: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constant("answer" as const), succeeds: fc.boolean() }),
    fc.record({ kind: fc.constant("time" as const), byMs: fc.integer({ min: 0, max: 40_000 }) }),
    fc.constant({ kind: "flush" as const }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), async (steps, room) => {
      const spooling = held(
        { maxBufferedEvents: room, maxBatchSize: 7 },
        { spool: { directory: temporaryDirectory(), maxBytes: 65_536 } },
      );
      const { lifecycle, exporter, clock } = spooling;
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
      const { buffered, dropped } = lifecycle.counters();
      expect(buffered).toBe(0);
      expect(dropped.buffer_full ?? 0).toBe(0);
    }),
    { numRuns: 200 },
  );
});
