import { DatabaseSync } from "node:sqlite";
import { verifyStore } from "@agent-lifecycle/collector/parts";
import { formatTimestamp, type LifecycleEvent } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { STORE_FAULTS } from "../../../kit/faulty-store.ts";
import { legalStream } from "../../../kit/legal-stream.ts";
import {
  type EmbeddedCollector,
  memoryOf,
  metric,
  offer,
  RECEIVER,
  readiness,
  startEmbedded,
  store,
} from "./embedded-collector.ts";

const CHILDREN = ["a", "b", "c"];
const LEGAL_PATH = ["created", "starting", "running"] as const;

const legalPath = (childId: string): readonly LifecycleEvent[] =>
  LEGAL_PATH.map((state, sequence) => makeEvent({ childId, sequence, state, at: sequence }));

/** Everything that a reader could tell the difference by. */
function everythingHeld(embedded: EmbeddedCollector): object {
  const { reader } = embedded.collector;
  return { memory: memoryOf(embedded, CHILDREN), summary: { ...reader.summary() }, lastInputId: reader.lastInputId() };
}

const UNAVAILABLE = { kind: "unavailable", retryable: true, reason: expect.stringContaining("the disk failed at") };

describe.each(STORE_FAULTS)("a store that fails at %s", (fault) => {
  test("acknowledges nothing and leaves no trace in memory; the same request is taken afterwards", async () => {
    const embedded = await startEmbedded();
    await store(embedded, ...legalPath("a"));
    const before = structuredClone(everythingHeld(embedded));
    embedded.faults.failsThenWorks(fault);
    const late = [makeEvent({ childId: "a", sequence: 3, state: "completed", at: 3 }), ...legalPath("b")];
    expect(await offer(embedded, late)).toEqual(UNAVAILABLE);
    expect(everythingHeld(embedded)).toEqual(before);
    expect(embedded.takeLoggedFaults()).toHaveLength(1);
    expect(await store(embedded, ...late)).toEqual(["applied", "applied", "applied", "applied"]);
    expect(embedded.collector.reader.child("runner", "b")?.key).toBe(1);
  });

  test("refuses every request that shared the commit, and publishes nothing", async () => {
    const embedded = await startEmbedded();
    const published: number[] = [];
    embedded.collector.updates.subscribe((updates) => void published.push(updates.length));
    embedded.faults.failsThenWorks(fault);
    const answers = CHILDREN.map((childId) => offer(embedded, legalPath(childId)));
    expect(await Promise.all(answers)).toEqual(CHILDREN.map(() => UNAVAILABLE));
    expect(embedded.takeLoggedFaults()).toHaveLength(1);
    expect(published).toEqual([]);
    expect(memoryOf(embedded, CHILDREN)).toEqual([]);
    const refusals = 'otelcol_receiver_refused_requests_total{receiver="test",reason="unavailable"}';
    expect(await metric(embedded, refusals)).toBe(3);
  });

  test("makes the collector unready, with the reason, until the next good commit", async () => {
    const embedded = await startEmbedded();
    expect(await readiness(embedded)).toEqual({ status: 200, body: { ready: true } });
    embedded.faults.breakDown(fault);
    await offer(embedded, legalPath("a"));
    expect(await readiness(embedded)).toEqual({
      status: 503,
      body: { ready: false, reason: `the disk failed at ${fault}` },
    });
    embedded.faults.repair();
    await store(embedded, ...legalPath("a"));
    expect(await readiness(embedded)).toEqual({ status: 200, body: { ready: true } });
    expect(embedded.takeLoggedFaults()).toHaveLength(1);
  });

  test("takes back a snapshot whole: children it discovered, its epoch and its misses", async () => {
    const embedded = await startEmbedded();
    await store(embedded, ...legalPath("a"));
    const before = structuredClone(everythingHeld(embedded));
    const snapshot = makeSnapshot({ at: 1_000, sourceEpoch: "epoch-2", children: [{ childId: "b" }] });
    const send = () =>
      embedded.collector.intake.acceptSnapshot(snapshot, { receiver: RECEIVER, backfill: false, bytes: 0 });
    embedded.faults.failsThenWorks(fault);
    expect(await send()).toEqual(UNAVAILABLE);
    expect(everythingHeld(embedded)).toEqual(before);
    expect(embedded.takeLoggedFaults()).toHaveLength(1);
    expect(await send()).toMatchObject({ kind: "stored", status: "applied" });
    expect(embedded.collector.reader.child("runner", "a")?.misses).toBe(1);
    expect(await send()).toMatchObject({ status: "deduplicated" });
  });
});

describe("while the store takes no writes", () => {
  test("reads still work: single children and counts as acknowledged, lists as of the last checkpoint", async () => {
    const embedded = await startEmbedded();
    const { reader } = embedded.collector;
    await store(embedded, ...legalPath("a"));
    expect(reader.children({ limit: 10 })).toHaveLength(1);
    await store(embedded, ...legalPath("b"));
    embedded.faults.breakDown();
    expect(reader.child("runner", "b")).toMatchObject({ state: "running" });
    expect(reader.summary()).toMatchObject({ started: 2, live: 2 });
    expect(reader.children({ limit: 10 }).map(({ childId }) => childId)).toEqual(["a"]);
    expect(reader.sources()).toEqual([{ source: "runner", children: 1 }]);
    expect(reader.inputsOfChild(1, 0, 10)).toHaveLength(3);
    expect(embedded.takeLoggedFaults()).not.toEqual([]);
    embedded.faults.repair();
    expect(reader.children({ limit: 10 }).map(({ childId }) => childId)).toEqual(["b", "a"]);
  });

  test("verdicts are not given; each is given once, when its time has come without an outage (S1, S2, S4)", async () => {
    const embedded = await startEmbedded();
    const { clock, pace, faults, collector } = embedded;
    const child = () => collector.reader.child("runner", "a");
    await store(
      embedded,
      makeEvent({ childId: "a", sequence: 0, state: "created", capabilities: { heartbeat: "known" } }),
    );
    clock.pass(60_000);
    faults.breakDown();
    await pace.next();
    expect(child()?.stale).toBeUndefined();
    faults.repair();
    await pace.next();
    expect(child()).toMatchObject({ stale: undefined, silentSince: clock.wallNow() });
    clock.pass(60_000);
    await pace.next();
    expect(child()).toMatchObject({ state: "created", stale: { reason: "deadline" } });
    clock.pass(30_000);
    faults.breakDown();
    await pace.next();
    expect(child()).toMatchObject({ state: "created" });
    faults.repair();
    await pace.next();
    expect(child()).toMatchObject({ state: "created", reconciliation: { requestedAt: clock.wallNow() } });
    clock.pass(30_000);
    await pace.next();
    expect(child()).toMatchObject({ state: "lost", terminalEvidence: "failed_reconciliation" });
    await pace.next();
    expect(embedded.takeLoggedFaults()).toHaveLength(2);
    expect(await metric(embedded, 'agent_lifecycle_verdicts_total{outcome="stale"}')).toBe(1);
    expect(await metric(embedded, 'agent_lifecycle_verdicts_total{outcome="lost"}')).toBe(1);
  });

  test("an objection that was not stored is not counted; it is counted once, when it is", async () => {
    const embedded = await startEmbedded();
    embedded.faults.failsThenWorks("commit", "commit");
    const conflicting = [...legalPath("a"), makeEvent({ childId: "a", sequence: 2, state: "waiting", at: 2 })];
    await offer(embedded, conflicting);
    await offer(embedded, conflicting);
    await store(embedded, ...conflicting);
    expect(embedded.takeLoggedFaults()).toHaveLength(1);
    expect(await metric(embedded, 'agent_lifecycle_diagnostics_total{code="identity_conflict"}')).toBe(1);
    expect(embedded.collector.reader.diagnostics({ limit: 10 })).toHaveLength(1);
  });

  test("a shutdown ends all the same, and answers who waits", async () => {
    const embedded = await startEmbedded();
    embedded.faults.breakDown();
    const waiting = offer(embedded, legalPath("a"));
    await embedded.collector.shutdown();
    expect(await waiting).toEqual(UNAVAILABLE);
    expect(embedded.takeLoggedFaults()).not.toEqual([]);
  });
});

test("a database that another process holds locked is unavailable, and recovers by itself", async () => {
  const embedded = await startEmbedded();
  await store(embedded, ...legalPath("a"));
  const before = structuredClone(everythingHeld(embedded));
  const intruder = new DatabaseSync(embedded.database);
  intruder.exec("BEGIN IMMEDIATE");
  expect(await offer(embedded, legalPath("b"))).toMatchObject({
    kind: "unavailable",
    retryable: true,
    reason: `cannot use the database ${embedded.database}: database is locked`,
  });
  expect(everythingHeld(embedded)).toEqual(before);
  expect((await readiness(embedded)).status).toBe(503);
  intruder.exec("ROLLBACK");
  intruder.close();
  expect(await store(embedded, ...legalPath("b"))).toEqual(["applied", "applied", "applied"]);
  expect((await readiness(embedded)).status).toBe(200);
  expect(embedded.takeLoggedFaults()).toHaveLength(1);
});

test("whatever commits fail, a sender that tries again ends where no commit failed", { timeout: 60_000 }, async () => {
  const healthy = await startEmbedded();
  const faulty = await startEmbedded();
  const faults = fc.array(fc.constantFrom("none" as const, ...STORE_FAULTS), { maxLength: 12, size: "max" });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(legalStream(), legalStream({ external: true }), faults, async (first, second, plan) => {
      round += 1;
      const requests = [first, second].flatMap((stream, index) =>
        stream.map((event) => {
          const childId = `round-${round}-${index}`;
          return [{ ...event, childId, lineage: { ...event.lineage, rootChildId: childId } }];
        }),
      );
      for (const request of requests) await store(healthy, ...request);
      faulty.faults.failsThenWorks(...plan);
      for (const request of requests) await storeAtLast(faulty, request);
      faulty.takeLoggedFaults();
      const childIds = [`round-${round}-0`, `round-${round}-1`];
      expect(memoryOf(faulty, childIds)).toEqual(memoryOf(healthy, childIds));
      expect(memoryOf(healthy, childIds)).toHaveLength(new Set(requests.flat().map(({ childId }) => childId)).size);
    }),
    { numRuns: 40 },
  );
  faulty.faults.repair();
  expect(faulty.collector.reader.summary()).toEqual(healthy.collector.reader.summary());
  expect(faulty.collector.reader.lastInputId()).toBe(healthy.collector.reader.lastInputId());
  expect(verifyStore(faulty.faults.store)).toMatchObject({ agrees: true });
});

async function storeAtLast(embedded: EmbeddedCollector, request: readonly LifecycleEvent[]): Promise<void> {
  for (let answer = await offer(embedded, request); answer.kind !== "stored"; answer = await offer(embedded, request)) {
    expect(answer).toEqual(UNAVAILABLE);
  }
}

test("a problem that a receiver reports is kept with its time and receiver", async () => {
  const embedded = await startEmbedded();
  const { intake, reader } = embedded.collector;
  intake.reportProblem(RECEIVER, { code: "malformed", text: "line 7" });
  await store(embedded, ...legalPath("a"));
  const [problem] = reader.diagnostics({ limit: 10 });
  expect(problem).toMatchObject({ receiver: RECEIVER, diagnostic: { code: "malformed" } });
  expect(formatTimestamp(problem?.at ?? 0)).toBe(formatTimestamp(embedded.clock.wallNow()));
  expect(await metric(embedded, 'agent_lifecycle_diagnostics_total{code="malformed"}')).toBe(1);
});
