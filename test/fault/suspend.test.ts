import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ChildView } from "@agent-lifecycle/proto";
import { expect, test } from "vitest";
import { type ChildStream, openChildStream } from "../kit/child-stream.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { START_MS } from "../kit/start-time.ts";
import { submit } from "../kit/submit.ts";

const STALE_AFTER_MS = 4_000;
const FRESHNESS = [
  "--stale-after-ms",
  String(STALE_AFTER_MS),
  "--reconcile-deadline-ms",
  "1500",
  "--liveness-interval-ms",
  "200",
];
const STATES = ["created", "starting", "running"] as const;

async function begin(collector: CollectorProcess): Promise<ChildStream> {
  const at = Date.now() - START_MS;
  const capabilities = { heartbeat: "known" } as const;
  await submit(
    collector.ingestUrl,
    STATES.map((state, sequence) => makeEvent({ sequence, state, at, capabilities })),
  );
  return openChildStream(collector.apiUrl);
}

function wasCalledStale({ seen }: ChildStream): boolean {
  return seen.some(({ stale }) => stale !== null);
}

test("a collector that was stopped for longer than a silence may last blames nobody for it, and notices the next one", {
  timeout: 60_000,
}, async () => {
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"), FRESHNESS);
  const stream = await begin(collector);
  process.kill(collector.pid, "SIGSTOP");
  // The fault itself: it lasts this long.
  await delay(STALE_AFTER_MS + 3_000);
  const wokenAt = Date.now();
  process.kill(collector.pid, "SIGCONT");
  const stale = await stream.until((child) => child.stale !== null);
  expect(Date.parse(stale.stale?.since ?? "") - wokenAt).toBeGreaterThan(STALE_AFTER_MS - 1_000);
  const lost = await stream.until(({ state }) => state === "lost");
  expect(lost.terminalEvidence).toBe("failed_reconciliation");
  await collector.endBy("SIGTERM");
});

test("a child that speaks right after the collector's absence was never stale", { timeout: 60_000 }, async () => {
  const collector = await startCollector(join(temporaryDirectory(), "collector.db"), FRESHNESS);
  const stream = await begin(collector);
  process.kill(collector.pid, "SIGSTOP");
  await delay(STALE_AFTER_MS + 3_000);
  process.kill(collector.pid, "SIGCONT");
  const at = Date.now() - START_MS;
  await submit(collector.ingestUrl, [makeEvent({ sequence: 3, kind: "terminal", state: "completed", at })]);
  const completed = await stream.until(({ state }) => state === "completed");
  expect(completed.stale).toBeNull();
  expect(wasCalledStale(stream)).toBe(false);
  const { audit } = await collector.get<{ readonly audit: readonly ChildView[] }>(
    "/api/v1/children/runner/child-1/audit",
  );
  expect(audit).toEqual([]);
  await collector.endBy("SIGTERM");
});
