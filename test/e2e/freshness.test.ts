import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type AuditPage, type ChildView, formatTimestamp, parseTimestamp } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { openChildStream } from "../kit/child-stream.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { fixture, type Program, startNode } from "../kit/program.ts";
import { submit } from "../kit/submit.ts";

const STALE_AFTER_MS = 1_500;
const RECONCILE_DEADLINE_MS = 700;
const HEARTBEAT_INTERVAL_MS = 100;
/** How long a collector is stopped: longer than any of its children may be silent. */
const SLEEP_MS = STALE_AFTER_MS + 400;

/** A collector with the deadlines of minutes brought down to a second or so. */
function startImpatientCollector(): Promise<CollectorProcess> {
  return startCollector(join(temporaryDirectory(), "collector.db"), [
    ...["--stale-after-ms", String(STALE_AFTER_MS), "--reconcile-deadline-ms", String(RECONCILE_DEADLINE_MS)],
    ...["--liveness-interval-ms", "50"],
  ]);
}

function startChild(collector: CollectorProcess, childId: string, heartbeatIntervalMs: number): Program {
  return startNode(fixture("sdk-child.mjs"), [childId, String(heartbeatIntervalMs)], {
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.ingestUrl },
  });
}

function timeOf(timestamp: string | undefined): number {
  return parseTimestamp(timestamp ?? "") ?? Number.NaN;
}

const isRunning = (childId: string) => (child: ChildView) => child.childId === childId && child.state === "running";
const isStale = (childId: string) => (child: ChildView) => child.childId === childId && child.stale !== null;
const isLost = (childId: string) => (child: ChildView) => child.childId === childId && child.state === "lost";

async function statusesOf(collector: CollectorProcess, childId: string, type: string): Promise<readonly string[]> {
  const inputs = await historyOf(collector, "host", childId);
  return inputs.filter((input) => input.type === type).map((input) => input.status);
}

describe("a child that promised heartbeats and is killed", () => {
  test("is stale first and lost only when the deadline has passed too, with the evidence for it", async () => {
    const collector = await startImpatientCollector();
    const stream = await openChildStream(collector.apiUrl);
    const host = startChild(collector, "worker", HEARTBEAT_INTERVAL_MS);
    await stream.until((child) => isRunning("worker")(child) && child.heartbeatAt !== null);
    expect(stream.seen.filter(isStale("worker"))).toEqual([]);
    host.process.kill("SIGKILL");

    const stale = await stream.until(isStale("worker"));
    expect(stale).toMatchObject({ state: "running", stale: { reason: "deadline" }, terminalEvidence: null });
    const staleSince = timeOf(stale.stale?.since);
    expect(staleSince - timeOf(stale.lastEvidenceAt)).toBeGreaterThanOrEqual(STALE_AFTER_MS);
    expect(timeOf(stale.reconciliation?.deadline) - staleSince).toBe(RECONCILE_DEADLINE_MS);

    const lost = await stream.until(isLost("worker"));
    expect(lost).toMatchObject({ terminalEvidence: "failed_reconciliation", stale: null, reconciliation: null });
    const { audit } = await collector.get<AuditPage>("/api/v1/children/host/worker/audit");
    expect(audit).toHaveLength(1);
    expect(audit[0]).toMatchObject({ reason: "failed_reconciliation", from: "running", to: "lost" });
    expect(timeOf(audit[0]?.at)).toBeGreaterThanOrEqual(timeOf(stale.reconciliation?.deadline));
    expect(await statusesOf(collector, "worker", "stale")).toEqual(["applied"]);
    expect(await statusesOf(collector, "worker", "reconciliation")).toEqual(["applied"]);
  });
});

describe("a child that promised no heartbeats", () => {
  test("stays stale and is never lost, and evidence clears it", async () => {
    const collector = await startImpatientCollector();
    const stream = await openChildStream(collector.apiUrl);
    const quiet = startChild(collector, "quiet", 0);
    await stream.until(isRunning("quiet"));
    await stream.until(isStale("quiet"));
    // The request is answered: nobody can say. The child is not lost for that.
    await stream.until((child) => isStale("quiet")(child) && child.reconciliation === null);
    const killed = startChild(collector, "killed", HEARTBEAT_INTERVAL_MS);
    await stream.until(isRunning("killed"));
    killed.process.kill("SIGKILL");
    // By the time another child went the whole way, this one would have, too.
    await stream.until(isLost("killed"));
    expect(await collector.get<ChildView>("/api/v1/children/host/quiet")).toMatchObject({
      state: "running",
      stale: { reason: "deadline" },
    });

    quiet.process.kill("SIGUSR2");
    const back = await stream.until((child) => child.childId === "quiet" && child.activity === "speaks again");
    expect(back).toMatchObject({ state: "running", stale: null, reconciliation: null });
    const history = await historyOf(collector, "host", "quiet");
    expect(history.map(({ type, event }) => event?.kind ?? type)).toEqual([
      ...["created", "state_changed", "state_changed"],
      ...["stale", "reconciliation", "activity"],
    ]);
  });
});

describe("evidence in time", () => {
  test("withdraws the question whether the child is lost: it goes on as if nothing had been", async () => {
    const collector = await startImpatientCollector();
    const stream = await openChildStream(collector.apiUrl);
    const host = startChild(collector, "frozen", HEARTBEAT_INTERVAL_MS);
    await stream.until((child) => isRunning("frozen")(child) && child.heartbeatAt !== null);
    host.process.kill("SIGSTOP");
    const stale = await stream.until(isStale("frozen"));
    expect(stale.reconciliation).not.toBeNull();
    host.process.kill("SIGCONT");
    const isBack = (child: ChildView): boolean =>
      isRunning("frozen")(child) && child.stale === null && timeOf(child.lastEvidenceAt) > timeOf(stale.stale?.since);
    expect(await stream.until(isBack)).toMatchObject({ reconciliation: null });
    const afterDeadline = timeOf(stale.reconciliation?.deadline) + STALE_AFTER_MS;
    await stream.until((child) => isRunning("frozen")(child) && timeOf(child.lastEvidenceAt) > afterDeadline);
    expect(stream.seen.filter(isLost("frozen"))).toEqual([]);
    expect(await statusesOf(collector, "frozen", "reconciliation")).toEqual([]);
  });
});

describe("a collector that was stopped for longer than the silence it allows (S1)", () => {
  test("marks nobody for the time it slept through", async () => {
    const collector = await startImpatientCollector();
    const stream = await openChildStream(collector.apiUrl);
    const names = ["first", "second"] as const;
    for (const name of names) startChild(collector, name, HEARTBEAT_INTERVAL_MS);
    for (const name of names) await stream.until((child) => isRunning(name)(child) && child.heartbeatAt !== null);
    // One more child says something, and nothing after that.
    const silent = makeEvent({ source: "host", childId: "silent", state: "running", lineage: { external: true } });
    await submit(collector.ingestUrl, [silent]);

    collector.program.process.kill("SIGSTOP");
    await delay(SLEEP_MS);
    const wokenAt = Date.now();
    collector.program.process.kill("SIGCONT");

    const stale = await stream.until(isStale("silent"));
    expect(timeOf(stale.stale?.since)).toBeGreaterThanOrEqual(wokenAt + STALE_AFTER_MS);
    const later = formatTimestamp(wokenAt + 2 * STALE_AFTER_MS);
    for (const name of names) {
      await stream.until((child) => isRunning(name)(child) && child.lastEvidenceAt > later);
      expect(await statusesOf(collector, name, "stale"), name).toEqual([]);
    }
  });
});
