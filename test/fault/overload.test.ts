import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { HeartbeatFlood } from "../kit/heartbeat-flood.ts";
import { OpenLoop } from "../kit/open-loop.ts";
import { memoryOf } from "../kit/process-memory.ts";

/** Ten minutes are `OVERLOAD_SECONDS=600`. */
const OVERLOAD_SECONDS = Number(process.env["OVERLOAD_SECONDS"] ?? 20);
const TIMES_CAPACITY = 3;
const RECORDS_PER_REQUEST = 512;
const MAX_WAITING_REQUESTS = 500;

interface Sample {
  readonly residentBytes: number;
  readonly answerMs: number;
}

/** Looks at the collector every half second, from outside, until `stop`. */
function watch(collector: CollectorProcess): { stop(): Promise<readonly Sample[]> } {
  const samples: Sample[] = [];
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const askedAt = performance.now();
      await collector.get("/healthz");
      samples.push({
        residentBytes: memoryOf(collector.pid).residentBytes,
        answerMs: performance.now() - askedAt,
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await watching;
      return samples;
    },
  };
}

function highest(samples: readonly Sample[]): number {
  return Math.max(...samples.map(({ residentBytes }) => residentBytes));
}

/** Events the collector says it stored, whatever became of them. */
async function storedEvents(collector: CollectorProcess): Promise<number> {
  const exposition = await (await fetch(new URL("/metrics", collector.apiUrl))).text();
  const counts = [...exposition.matchAll(/^agent_lifecycle_events_total\{[^}]*status="(\w+)"[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, status, count]) => sum + (status === "rejected" ? 0 : Number(count)), 0);
}

const MEBIBYTE = 1024 * 1024;

describe("a collector that is sent three times what it can store", () => {
  test(`for ${OVERLOAD_SECONDS} s keeps its memory, answers readers, and acknowledges only what it has stored`, {
    timeout: (OVERLOAD_SECONDS + 120) * 1000,
  }, async () => {
    const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
    const flood = new HeartbeatFlood(RECORDS_PER_REQUEST, Date.now() - 60_000);
    const first = new OpenLoop({
      url: `${collector.ingestUrl}/v1/logs`,
      nextBody: () => flood.beginning(),
      maxWaiting: 1,
    });
    await first.saturate(1, 1);
    expect(first.tally).toMatchObject({ acknowledged: 1, refused: 0, unanswered: 0 });
    first.close();
    const load = new OpenLoop({
      url: `${collector.ingestUrl}/v1/logs`,
      nextBody: () => flood.next(),
      maxWaiting: MAX_WAITING_REQUESTS,
    });
    await load.connect();
    const capacity = await load.saturate(8, 3_000);
    const watching = watch(collector);
    const { acknowledged: before } = load.tally;
    await load.flood(capacity * TIMES_CAPACITY, OVERLOAD_SECONDS * 1000);
    const samples = await watching.stop();
    load.close();

    const { tally } = load;
    const begun = 3 * RECORDS_PER_REQUEST;
    const acknowledged = begun + tally.acknowledged * RECORDS_PER_REQUEST;
    const stored = await storedEvents(collector);
    const summary = await collector.get<{ readonly position: number; readonly live: number }>("/api/v1/summary");
    const later = samples.slice(Math.floor(samples.length / 2));
    const earlier = samples.slice(0, Math.ceil(samples.length / 2));
    console.log(
      `overload: capacity ${Math.round(capacity * RECORDS_PER_REQUEST)} events/s; offered ${TIMES_CAPACITY} times that for ` +
        `${OVERLOAD_SECONDS} s: ${JSON.stringify({ ...tally, acknowledged: tally.acknowledged - before })}; resident ` +
        `${Math.round(highest(earlier) / MEBIBYTE)} MiB at most in the first half, ${Math.round(highest(later) / MEBIBYTE)} in the ` +
        `second; slowest reader ${Math.round(Math.max(...samples.map(({ answerMs }) => answerMs)))} ms`,
    );
    expect(tally.wrong).toEqual([]);
    // A flood of which nothing is turned away was none.
    expect(tally.refused).toBeGreaterThan(0);
    expect(tally.acknowledged - before).toBeGreaterThan(0);
    expect(stored).toBeGreaterThanOrEqual(acknowledged);
    expect(stored).toBeLessThanOrEqual(acknowledged + tally.unanswered * RECORDS_PER_REQUEST);
    expect(summary.position).toBeGreaterThanOrEqual(stored);
    expect(summary.live).toBe(RECORDS_PER_REQUEST);
    expect(highest(later)).toBeLessThan(highest(earlier) * 1.25);
    const { exitCode } = await collector.endBy("SIGTERM");
    expect(exitCode).toBe(0);
  });
});
