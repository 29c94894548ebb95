import type { Collector } from "@agent-lifecycle/collector";
import { createMetrics } from "@agent-lifecycle/collector/parts";
import { createSummary } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { describeComponent } from "../../../kit/component-suite.ts";
import { exportBench, MemoryCursors, MemoryLog, ScriptedExporter } from "./export-bench.ts";

/** Whole numbers from one through another. */
function through(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

describeComponent("the export loop", {
  create: async () => {
    const bench = exportBench();
    bench.log.append(3);
    return { component: bench.loop };
  },
});

describe("an exporter is given the log", () => {
  test("from its beginning and as it grows, in order and without holes", async () => {
    const { loop, log, exporter, counted } = exportBench({}, { maxBatchInputs: 4 });
    log.append(10);
    await loop.start();
    await exporter.until(() => exporter.delivered.length === 10);
    log.append(3);
    await exporter.until(() => exporter.delivered.length === 13);
    expect(exporter.delivered).toEqual(through(1, 13));
    expect(exporter.batches.map(({ inputs }) => inputs.length)).toEqual([4, 4, 2, 3]);
    await loop.shutdown();
    expect(counted).toMatchObject({ exported: 13 });
  });

  test("from where it left off, after a restart", async () => {
    const log = new MemoryLog();
    const cursors = new MemoryCursors();
    const first = exportBench({ log, cursors });
    log.append(5);
    await first.loop.start();
    await first.exporter.until(() => first.exporter.delivered.length === 5);
    await first.loop.shutdown();
    log.append(2);
    const second = exportBench({ log, cursors });
    await second.loop.start();
    await second.exporter.until(() => second.exporter.delivered.length === 2);
    expect(second.exporter.delivered).toEqual([6, 7]);
  });

  test("again from the kept cursor, when it could not be kept further", async () => {
    const log = new MemoryLog();
    const cursors = new MemoryCursors();
    cursors.failure = new Error("disk full");
    const first = exportBench({ log, cursors });
    log.append(5);
    await first.loop.start();
    await first.exporter.until(() => first.exporter.delivered.length === 5);
    log.append(1);
    await first.exporter.until(() => first.exporter.delivered.length === 6);
    await first.loop.shutdown();
    expect(first.logged).toEqual(["the cursor cannot be kept; after a restart inputs are sent again"]);
    cursors.failure = undefined;
    const second = exportBench({ log, cursors });
    await second.loop.start();
    await second.exporter.until(() => second.exporter.delivered.length === 6);
    expect(second.exporter.delivered).toEqual(through(1, 6));
  });

  test("with the audit of each input, however long it is", async () => {
    const { loop, log, exporter } = exportBench({}, { maxBatchInputs: 2 });
    const entry = (inputId: number, to: string) => ({
      inputId,
      entry: { reason: "epoch_changed", source: "runner", childId: "a", from: "0", to, at: 0 } as const,
    });
    log.audits = [entry(1, "one"), ...through(1, 2_500).map((to) => entry(2, String(to))), entry(3, "three")];
    log.append(3);
    await loop.start();
    await exporter.until(() => exporter.delivered.length === 3);
    const audits = exporter.batches.flatMap(({ inputs }) => inputs.map(({ audit }) => audit.map(({ to }) => to)));
    expect(audits).toEqual([["one"], through(1, 2_500).map(String), ["three"]]);
  });

  test("with the number of inputs that retention took from it", async () => {
    const cursors = new MemoryCursors();
    cursors.saved = 2;
    const { loop, log, exporter, counted, logged } = exportBench({ cursors });
    log.append(10);
    log.removeThrough(7);
    await loop.start();
    await exporter.until(() => exporter.delivered.length === 3);
    expect(exporter.batches.map(({ missedInputs }) => missedInputs)).toEqual([5]);
    await loop.shutdown();
    expect(counted).toMatchObject({ missed: 5 });
    expect(logged).toEqual(["retention removed inputs before they were exported"]);
  });

  test("from what is left of it, when it is new: that is nothing missed", async () => {
    const { loop, log, exporter, logged } = exportBench();
    log.append(10);
    log.removeThrough(7);
    await loop.start();
    await exporter.until(() => exporter.delivered.length === 3);
    expect(exporter.batches.map(({ missedInputs }) => missedInputs)).toEqual([0]);
    expect(logged).toEqual([]);
  });

  test("from its beginning, when the log is another one than the cursor is of", async () => {
    const cursors = new MemoryCursors();
    cursors.saved = 100;
    const { loop, log, exporter, logged } = exportBench({ cursors });
    log.append(2);
    await loop.start();
    await exporter.until(() => exporter.delivered.length === 2);
    expect(logged).toEqual(["the cursor is beyond the log, which was replaced; everything is exported again"]);
    await loop.shutdown();
    expect(cursors.saved).toBe(2);
  });
});

describe("a batch", () => {
  test("that is to be tried again comes again, after a wait that doubles up to the longest", async () => {
    const options = { minBackoffMs: 100, maxBackoffMs: 300 };
    const { loop, log, exporter, timers, counted, logged } = exportBench({}, options);
    exporter.outcomes.push(
      { kind: "retry", reason: "503" },
      new Error("connection refused"),
      { kind: "retry", reason: "503" },
      { kind: "retry", reason: "503" },
    );
    log.append(1);
    await loop.start();
    for (const [attempts, waitMs] of [
      [1, 100],
      [2, 200],
      [3, 300],
      [4, 300],
    ] as const) {
      await exporter.until(() => exporter.batches.length === attempts);
      await expect.poll(() => timers.delays()).toContain(waitMs);
      timers.letPass(waitMs);
    }
    await exporter.until(() => exporter.delivered.length === 1);
    expect(counted).toMatchObject({ retries: 4 });
    log.append(1);
    await exporter.until(() => exporter.delivered.length === 2);
    expect(logged).toEqual(["cannot export now; trying again", "the destination takes inputs again"]);
  });

  test("waits for as long as the destination says, but never longer than the longest wait", async () => {
    const { loop, log, exporter, timers } = exportBench({}, { minBackoffMs: 100, maxBackoffMs: 5_000 });
    exporter.outcomes.push(
      { kind: "retry", reason: "429", afterMs: 4_000 },
      { kind: "retry", reason: "429", afterMs: 1e9 },
    );
    log.append(1);
    await loop.start();
    for (const waitMs of [4_000, 5_000]) {
      await expect.poll(() => timers.delays()).toContain(waitMs);
      timers.letPass(waitMs);
    }
    await exporter.until(() => exporter.delivered.length === 1);
  });

  test("that is refused for good is counted and passed", async () => {
    const { loop, log, exporter, cursors, counted } = exportBench({}, { maxBatchInputs: 2 });
    exporter.outcomes.push({ kind: "refused", reason: "too old" });
    log.append(4);
    await loop.start();
    await exporter.until(() => exporter.delivered.length === 2);
    expect(exporter.delivered).toEqual([3, 4]);
    await loop.shutdown();
    expect(cursors.saved).toBe(4);
    expect(counted).toMatchObject({ refused: 2, exported: 2 });
  });

  test("whose outcome is no known one comes again", async () => {
    const { loop, log, exporter, timers } = exportBench({}, { minBackoffMs: 100 });
    exporter.outcomes.push({ kind: "done" } as never, undefined as never);
    log.append(1);
    await loop.start();
    await expect.poll(() => timers.delays()).toContain(100);
    timers.letPass(100);
    await exporter.until(() => exporter.delivered.length === 1);
  });

  test("that takes too long has its signal fired, and no other comes meanwhile", async () => {
    const { loop, log, exporter, timers } = exportBench({}, { exportTimeoutMs: 1_000 });
    const gate = Promise.withResolvers<void>();
    exporter.gate = gate.promise;
    log.append(1);
    await loop.start();
    await exporter.until(() => exporter.batches.length === 1);
    expect(exporter.signals[0]?.aborted).toBe(false);
    timers.letPass(1_000);
    expect(exporter.signals[0]?.aborted).toBe(true);
    log.append(5);
    expect(exporter.batches).toHaveLength(1);
    gate.resolve();
    await exporter.until(() => exporter.delivered.length === 6);
  });
});

describe("a slow exporter", () => {
  test("holds one batch, whatever is stored meanwhile, and holds up no other", async () => {
    const log = new MemoryLog();
    const slow = exportBench({ log });
    const gate = Promise.withResolvers<void>();
    slow.exporter.gate = gate.promise;
    const quick = exportBench({ log });
    log.append(1);
    await slow.loop.start();
    await quick.loop.start();
    await slow.exporter.until(() => slow.exporter.batches.length === 1);
    log.append(1_000);
    await quick.exporter.until(() => quick.exporter.delivered.length === 1_001);
    expect(slow.exporter.batches).toHaveLength(1);
    gate.resolve();
    await slow.exporter.until(() => slow.exporter.delivered.length === 1_001);
    expect(slow.exporter.delivered).toEqual(through(1, 1_001));
  });
});

describe("an exporter that answers at once", () => {
  test("lets everybody else have their turn between two batches", async () => {
    const { loop, log, exporter } = exportBench({}, { maxBatchInputs: 1 });
    log.append(100);
    await loop.start();
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });
    await exporter.until(() => exporter.delivered.length === 100);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(90);
  });
});

describe("a shutdown", () => {
  test("waits for the batch on its way, and gives out no other", async () => {
    const { loop, log, exporter, cursors } = exportBench({}, { maxBatchInputs: 1 });
    const gate = Promise.withResolvers<void>();
    exporter.gate = gate.promise;
    log.append(2);
    await loop.start();
    await exporter.until(() => exporter.batches.length === 1);
    const stopping = loop.shutdown();
    gate.resolve();
    await stopping;
    expect(exporter.delivered).toEqual([1]);
    expect(cursors.saved).toBe(1);
    expect(exporter.shutdowns).toBe(1);
    log.append(1);
    expect(exporter.batches).toHaveLength(1);
  });

  test("fires the signal of a batch that takes longer than the grace", async () => {
    const { loop, log, exporter, timers } = exportBench({}, { shutdownGraceMs: 500 });
    const gate = Promise.withResolvers<void>();
    exporter.gate = gate.promise;
    log.append(1);
    await loop.start();
    await exporter.until(() => exporter.batches.length === 1);
    const stopping = loop.shutdown();
    expect(exporter.signals[0]?.aborted).toBe(false);
    timers.letPass(500);
    expect(exporter.signals[0]?.aborted).toBe(true);
    exporter.outcomes.push(new Error("aborted"));
    gate.resolve();
    await stopping;
  });

  test("waits until the newest cursor is kept; a slow keeping holds up no batch, and skips what it came too late for", async () => {
    const { loop, log, exporter, cursors } = exportBench({}, { maxBatchInputs: 1 });
    const gate = Promise.withResolvers<void>();
    cursors.gate = gate.promise;
    log.append(10);
    await loop.start();
    await exporter.until(() => exporter.delivered.length === 10);
    let isStopped = false;
    const stopping = loop.shutdown().then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(false);
    expect(cursors.saves).toBe(1);
    gate.resolve();
    await stopping;
    expect(cursors.saved).toBe(10);
    expect(cursors.saves).toBe(2);
  });

  test("does not sit out the wait for the next attempt", async () => {
    const { loop, log, exporter, timers } = exportBench();
    exporter.outcomes.push({ kind: "retry", reason: "503" });
    log.append(1);
    await loop.start();
    await expect.poll(() => timers.delays()).toContain(500);
    await loop.shutdown();
    expect(exporter.batches).toHaveLength(1);
    expect(exporter.shutdowns).toBe(1);
  });
});

describe("a start", () => {
  test("rejects when the exporter cannot start, and the exporter is shut down all the same", async () => {
    const exporter = new ScriptedExporter();
    exporter.start = () => Promise.reject(new Error("no such host"));
    const { loop } = exportBench({ exporter });
    await expect(loop.start()).rejects.toThrow("no such host");
    await loop.shutdown();
    expect(exporter.shutdowns).toBe(1);
  });
});

describe("metrics", () => {
  test("tell of each exporter what it delivered, lost, tries again and is behind", async () => {
    const metrics = createMetrics();
    const { exportTelemetry: telemetry } = metrics;
    const cursors = new MemoryCursors();
    cursors.saved = 1;
    const { loop, log, exporter, timers } = exportBench({ cursors }, { telemetry, maxBatchInputs: 3 });
    exporter.outcomes.push({ kind: "retry", reason: "503" }, { kind: "refused", reason: "400" });
    log.append(10);
    log.removeThrough(3);
    await loop.start();
    await expect.poll(() => timers.delays()).toContain(500);
    const reader = { summary: createSummary, lastInputId: () => 10 } as unknown as Collector["reader"];
    expect((await metrics.render(undefined, reader)).text).toContain(
      'agent_lifecycle_export_lag_inputs{exporter="module/mine"} 9',
    );
    timers.letPass(500);
    await exporter.until(() => exporter.delivered.length === 4);
    await loop.shutdown();
    const { text } = await metrics.render(undefined, reader);
    for (const sample of [
      'agent_lifecycle_export_inputs_total{exporter="module/mine",outcome="missed"} 2',
      'agent_lifecycle_export_inputs_total{exporter="module/mine",outcome="refused"} 3',
      'agent_lifecycle_export_inputs_total{exporter="module/mine",outcome="delivered"} 4',
      'agent_lifecycle_export_retries_total{exporter="module/mine"} 1',
    ]) {
      expect(text).toContain(sample);
    }
  });
});
