import { verifyStore } from "@agent-lifecycle/collector/parts";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { type EmbeddedCollector, RECEIVER, recount, startEmbedded, store } from "./embedded-collector.ts";

const PATH = ["created", "starting", "running", "completed"] as const;

const ended = (childId: string): readonly LifecycleEvent[] =>
  PATH.map((state, sequence) => makeEvent({ childId, sequence, state, at: sequence }));

/** A reader that needs a list brings the checkpoint up to date; children that ended leave memory with it. */
function checkpoint({ collector }: EmbeddedCollector): void {
  collector.reader.children({ limit: 1 });
}

/** Whether a child is in memory: if not, the collector has to ask its store. */
function isInMemory({ collector, faults }: EmbeddedCollector, childId: string): boolean {
  faults.calls.length = 0;
  expect(collector.reader.child("runner", childId)).toBeDefined();
  return !faults.calls.includes("loadChild");
}

/** The same collector after a clean end and a new start. */
async function restarted(embedded: EmbeddedCollector): Promise<EmbeddedCollector> {
  await embedded.collector.shutdown();
  return startEmbedded({ database: embedded.database, clock: embedded.clock });
}

const ORIGIN = { receiver: RECEIVER, backfill: false, bytes: 0 };

describe("a child that ended", () => {
  test("stays in memory until the next checkpoint, and is answered for after it all the same", async () => {
    const embedded = await startEmbedded();
    await store(embedded, ...ended("a"), makeEvent({ childId: "b", sequence: 0, state: "created" }));
    expect(isInMemory(embedded, "a")).toBe(true);
    const before = embedded.collector.reader.child("runner", "a");
    checkpoint(embedded);
    expect(isInMemory(embedded, "a")).toBe(false);
    expect(isInMemory(embedded, "b")).toBe(true);
    expect(embedded.collector.reader.child("runner", "a")).toEqual(before);
  });

  test("comes back for a late claim, which is counted on it (P7, P19)", async () => {
    let embedded = await startEmbedded();
    await store(embedded, ...ended("a"));
    for (let claims = 1; claims <= 3; claims += 1) {
      checkpoint(embedded);
      const late = makeEvent({ childId: "a", sequence: 3 + claims, state: "running", at: 10 + claims });
      expect(await store(embedded, late)).toEqual(["terminal_immutable"]);
      expect(embedded.collector.reader.child("runner", "a")).toMatchObject({
        state: "completed",
        key: 0,
        lateEvidence: { count: claims, lastState: "running" },
      });
      embedded = await restarted(embedded);
    }
  });

  test("does not stay in memory because its old events come again, however often", async () => {
    const embedded = await startEmbedded();
    const childIds = Array.from({ length: 20 }, (_, index) => `child-${index}`);
    for (const childId of childIds) await store(embedded, ...ended(childId));
    checkpoint(embedded);
    for (const childId of childIds) {
      expect(new Set(await store(embedded, ...ended(childId)))).toEqual(new Set(["deduplicated"]));
    }
    expect(childIds.filter((childId) => isInMemory(embedded, childId))).toEqual([]);
  });

  test("does not stay in memory when the claim that brought it back could not be stored", async () => {
    const embedded = await startEmbedded();
    await store(embedded, ...ended("a"));
    checkpoint(embedded);
    embedded.faults.failsThenWorks("commit");
    const late = makeEvent({ childId: "a", sequence: 4, at: 4 });
    await expect(store(embedded, late)).rejects.toThrow("refused");
    expect(embedded.takeLoggedFaults()).toHaveLength(1);
    expect(isInMemory(embedded, "a")).toBe(false);
    expect(embedded.collector.reader.child("runner", "a")?.lateEvidence).toBeUndefined();
    expect(await store(embedded, late)).toEqual(["terminal_immutable"]);
  });

  test("keeps its record when a snapshot lists it, in its own state or in another (A5)", async () => {
    const embedded = await startEmbedded();
    await store(embedded, ...ended("a"), ...ended("b"));
    checkpoint(embedded);
    const children = [
      { childId: "a", state: "completed" as const },
      { childId: "b", state: "running" as const },
    ];
    const answer = await embedded.collector.intake.acceptSnapshot(makeSnapshot({ at: 1_000, children }), ORIGIN);
    expect(answer).toMatchObject({ corrected: 0, diagnostics: [{ code: "terminal_immutable", childId: "b" }] });
    expect(embedded.collector.reader.child("runner", "b")).toMatchObject({ state: "completed", key: 1 });
    expect(embedded.collector.reader.summary()).toMatchObject({ started: 2, live: 0 });
  });
});

describe("after eviction and a restart", () => {
  test("every event that was ever taken is recognized: sequenced, unsequenced, and in other words", async () => {
    const first = await startEmbedded();
    const unsequenced = makeEvent({ childId: "a", eventId: "note-1", kind: "activity", activity: "reading", at: 2 });
    const [created, ...rest] = ended("a");
    if (created === undefined) throw new Error("no stream");
    await store(first, created, unsequenced, ...rest);
    checkpoint(first);
    const embedded = await restarted(first);
    expect(new Set(await store(embedded, created, unsequenced, ...rest))).toEqual(new Set(["deduplicated"]));
    const altered = { ...unsequenced, activity: "writing" };
    expect(await store(embedded, altered, makeEvent({ childId: "a", sequence: 1, state: "cancelled", at: 1 }))).toEqual(
      ["conflict", "conflict"],
    );
    expect(embedded.collector.reader.child("runner", "a")?.conflicts).toBe(2);
  });

  test("a snapshot that was seen counts no second miss (A2)", async () => {
    const first = await startEmbedded();
    await store(first, makeEvent({ childId: "a", sequence: 0, state: "created" }), ...ended("b"));
    const snapshot = makeSnapshot({ snapshotId: "seen", at: 1_000, coverage: ["a"], children: [] });
    const send = ({ collector }: EmbeddedCollector) => collector.intake.acceptSnapshot(snapshot, ORIGIN);
    expect(await send(first)).toMatchObject({ status: "applied" });
    const embedded = await restarted(first);
    expect(await send(embedded)).toMatchObject({ status: "deduplicated" });
    expect(embedded.collector.reader.child("runner", "a")?.misses).toBe(1);
  });

  test("a snapshot of an epoch that was superseded is still refused (A3)", async () => {
    const first = await startEmbedded();
    const snapshot = (sourceEpoch: string, at: number) => makeSnapshot({ sourceEpoch, at, children: [] });
    await first.collector.intake.acceptSnapshot(snapshot("epoch-1", 1_000), ORIGIN);
    await first.collector.intake.acceptSnapshot(snapshot("epoch-2", 2_000), ORIGIN);
    const embedded = await restarted(first);
    expect(await embedded.collector.intake.acceptSnapshot(snapshot("epoch-1", 3_000), ORIGIN)).toMatchObject({
      status: "out_of_order",
      diagnostics: [{ code: "epoch_conflict" }],
    });
  });

  test("no key is given twice", async () => {
    let embedded = await startEmbedded();
    const keys: (number | undefined)[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (const childId of [`first-${round}`, `second-${round}`]) {
        await store(embedded, ...ended(childId));
        if (round % 2 === 0) checkpoint(embedded);
        keys.push(embedded.collector.reader.child("runner", childId)?.key);
      }
      embedded = await restarted(embedded);
    }
    expect(keys).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("the counts are those of a full recount", async () => {
    let embedded = await startEmbedded();
    for (let round = 0; round < 3; round += 1) {
      await store(
        embedded,
        ...ended(`ended-${round}`),
        makeEvent({ childId: `live-${round}`, sequence: 0, state: "created" }),
        makeEvent({ childId: `gapped-${round}`, sequence: 4, state: "running" }),
        makeEvent({ childId: `stateless-${round}`, sequence: 0 }),
        makeEvent({ childId: `ended-${round}`, sequence: 9, at: 9 }),
      );
      embedded.clock.pass(60_000);
      await embedded.pace.next();
      checkpoint(embedded);
      const counted = recount([...embedded.faults.store.everyChild()].map(({ record }) => record));
      expect(embedded.collector.reader.summary()).toEqual(counted);
      const children = 3 * (round + 1);
      expect(counted).toMatchObject({ started: children, live: (children / 3) * 2, stateUnknown: children / 3 });
      expect(counted.stale).toBeGreaterThan(0);
      embedded = await restarted(embedded);
      expect(embedded.collector.reader.summary()).toEqual(counted);
    }
    expect(verifyStore(embedded.faults.store)).toMatchObject({ agrees: true });
  });
});
