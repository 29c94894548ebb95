import { join } from "node:path";
import { createLifecycle } from "@agent-lifecycle/sdk";
import { describe, expect, it } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { beat, held } from "./held-exporter.ts";

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
