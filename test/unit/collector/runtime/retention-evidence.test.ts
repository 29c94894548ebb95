import { DatabaseSync } from "node:sqlite";
import { openSqliteStore, verifyStore } from "@agent-lifecycle/collector/parts";
import type { LifecycleSnapshot } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { temporaryDatabase } from "./embedded-collector.ts";
import { RetainedStorage } from "./retained-storage.ts";

const ONE_HOUR_MS = 3_600_000;
const ONE_DAY_MS = 24 * ONE_HOUR_MS;

function snapshot(storage: RetainedStorage, id: string, ...children: readonly string[]): LifecycleSnapshot {
  const at = storage.clock.wallNow() - START_MS;
  return makeSnapshot({
    at,
    snapshotId: id,
    children: children.map((childId) => ({ childId, state: childId === "living" ? "running" : "completed" })),
  });
}

async function takeSnapshot(storage: RetainedStorage, taken: LifecycleSnapshot): Promise<object> {
  return storage.door.acceptSnapshot(taken, { receiver: "test", backfill: false, bytes: 1 });
}

describe("an ended child stays as long as the log speaks of it", () => {
  test("in an event that came after its end", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    await storage.take(...storage.live("ended", "completed"));
    storage.clock.pass(ONE_HOUR_MS + 1);
    await storage.take(makeEvent({ childId: "ended", sequence: 9, at: 9 }));
    expect(await storage.retention.run()).toEqual({ inputs: 4, children: 0 });
    expect(storage.stateOf("ended")).toBe("completed");
    storage.expectProven();
    storage.clock.pass(ONE_HOUR_MS + 1);
    expect(await storage.retention.run()).toEqual({ inputs: 1, children: 1 });
    expect(storage.stateOf("ended")).toBeUndefined();
    storage.expectProven();
  });

  test("in a verdict that changed nothing, and was stored to find out whether the store takes inputs again", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    await storage.take(...storage.live("ended", "completed"));
    storage.clock.pass(ONE_HOUR_MS + 1);
    storage.faults.breakDown();
    await expect(storage.take(...storage.live("refused", "running"))).rejects.toThrow("unavailable");
    storage.faults.repair();
    const at = storage.clock.wallNow();
    const verdict = { type: "stale", source: "runner", childId: "ended", at, silentSince: at, deadline: at } as const;
    expect(await storage.writer.submitVerdicts([verdict])).toBe(true);
    expect(await storage.retention.run()).toEqual({ inputs: 4, children: 0 });
    storage.expectProven();
    storage.clock.pass(ONE_HOUR_MS + 1);
    expect(await storage.retention.run()).toEqual({ inputs: 1, children: 1 });
    storage.expectProven();
  });

  test("and takes its audit with it; that of the others stays", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    await takeSnapshot(storage, snapshot(storage, "first", "found", "living"));
    const audited = () => storage.faults.store.audit({ afterInputId: 0, limit: 10 }).map(({ entry }) => entry.childId);
    expect(audited()).toEqual(["found", "living"]);
    storage.clock.pass(ONE_HOUR_MS + 1);
    expect(await storage.retention.run()).toEqual({ inputs: 1, children: 1 });
    expect(audited()).toEqual(["living"]);
  });

  test("in a snapshot that lists it, and not for one that merely covers it", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    await storage.take(...storage.live("listed", "completed"), ...storage.live("omitted", "completed"));
    await storage.take(...storage.live("living", "running"));
    storage.clock.pass(ONE_HOUR_MS + 1);
    await takeSnapshot(storage, snapshot(storage, "later", "listed", "living"));
    expect(await storage.retention.run()).toEqual({ inputs: 11, children: 1 });
    expect(["listed", "omitted", "living"].map((childId) => storage.stateOf(childId))).toEqual([
      "completed",
      undefined,
      "running",
    ]);
    storage.expectProven();
    storage.clock.pass(ONE_HOUR_MS + 1);
    await storage.retention.run();
    expect(storage.stateOf("listed")).toBeUndefined();
    storage.expectProven();
  });
});

test("a snapshot that was observed before the log begins is refused whole: it may be a resent one (A2)", async () => {
  const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
  const old = snapshot(storage, "old", "found", "living");
  await takeSnapshot(storage, old);
  storage.clock.pass(1);
  await storage.take(...storage.live("marker", "completed"));
  storage.clock.pass(2 * ONE_HOUR_MS);
  await storage.retention.run();
  const before = storage.state.child("runner", "living");
  expect(await takeSnapshot(storage, old)).toMatchObject({
    kind: "stored",
    status: "rejected",
    diagnostics: [{ code: "beyond_retention" }],
  });
  expect(storage.stateOf("found")).toBeUndefined();
  expect(storage.state.child("runner", "living")).toEqual(before);
  expect(await takeSnapshot(storage, snapshot(storage, "new", "living"))).toMatchObject({ status: "applied" });
  storage.expectProven();
});

test("keys and input ids are never used again, even when everything was removed and the collector starts anew", async () => {
  const path = temporaryDatabase();
  const before = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS }, openSqliteStore({ path, synchronous: "normal" }));
  await before.take(...before.live("old", "completed"));
  const key = before.state.child("runner", "old")?.key ?? Number.NaN;
  before.clock.pass(2 * ONE_HOUR_MS);
  await before.retention.run();
  expect([...before.faults.store.inputs(0)]).toEqual([]);
  before.close();
  const after = new RetainedStorage({}, openSqliteStore({ path, synchronous: "normal" }));
  after.clock.pass(2 * ONE_HOUR_MS);
  expect(after.state.lastInputId).toBe(4);
  expect(after.state.summary).toMatchObject({ started: 0, live: 0 });
  await after.take(...after.live("old", "completed"));
  expect(after.state.child("runner", "old")?.key).toBe(key + 1);
  expect([...after.faults.store.inputs(0)].map(({ inputId }) => inputId)).toEqual([5, 6, 7, 8]);
  after.expectProven();
});

describe("the clock", () => {
  test("that was ahead for a while keeps nothing for ever, and makes nobody's reports too old", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    storage.clock.setWall(365 * ONE_DAY_MS);
    await storage.take(...storage.live("from the future", "completed"));
    storage.clock.setWall(-365 * ONE_DAY_MS);
    await storage.take(...storage.live("after it", "completed"));
    storage.clock.pass(2 * ONE_HOUR_MS);
    expect(await storage.retention.run()).toEqual({ inputs: 8, children: 2 });
    expect(await storage.take(...storage.live("of now", "running"))).toEqual(["applied", "applied", "applied"]);
    storage.expectProven();
  });
});

describe("evidence that does not agree with what is stored", () => {
  test("is not removed: retention says so once, and stops", async () => {
    const path = temporaryDatabase();
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS }, openSqliteStore({ path, synchronous: "normal" }));
    await storage.take(...storage.live("altered", "completed"));
    storage.writer.checkpoint();
    const intruder = new DatabaseSync(path);
    intruder.exec("UPDATE children SET record = json_set(record, '$.conflicts', 7) WHERE child_id = 'altered'");
    intruder.close();
    storage.clock.pass(2 * ONE_HOUR_MS);
    expect(await storage.retention.run()).toEqual({ inputs: 0, children: 0 });
    expect(await storage.retention.run()).toEqual({ inputs: 0, children: 0 });
    expect(storage.faultsTold.filter((message) => message.startsWith("retention stopped"))).toHaveLength(1);
    expect([...storage.faults.store.inputs(0)]).toHaveLength(4);
    expect(verifyStore(storage.faults.store)).toMatchObject({ agrees: false, differingLines: 1 });
    // Its sender's affairs are not touched by that.
    expect(await storage.take(...storage.live("next", "running"))).toEqual(["applied", "applied", "applied"]);
  });

  test("in the base is found by verification", async () => {
    const path = temporaryDatabase();
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS }, openSqliteStore({ path, synchronous: "normal" }));
    await storage.take(...storage.live("living", "running"));
    storage.clock.pass(2 * ONE_HOUR_MS);
    await storage.retention.run();
    storage.expectProven();
    const tamperings = [
      ["UPDATE base_children SET record = json_set(record, '$.conflicts', 7)", { differingLines: 1 }],
      ["UPDATE base_children SET child_id = 'another'", { misfiledChildren: 1 }],
      ["DELETE FROM base_children", { differingLines: 1 }],
      ["UPDATE meta SET value = json_set(value, '$.nextKey', 9) WHERE name = 'base'", { differingLines: 1 }],
      ["UPDATE meta SET value = json_set(value, '$.inputId', 1) WHERE name = 'base'", { missingInputs: 2 }],
    ] as const;
    for (const [sql, found] of tamperings) {
      const intruder = new DatabaseSync(path);
      intruder.exec("CREATE TEMP TABLE kept_base AS SELECT * FROM base_children");
      intruder.exec("CREATE TEMP TABLE kept_meta AS SELECT * FROM meta");
      intruder.exec(sql);
      expect(verifyStore(storage.faults.store), sql).toMatchObject({ agrees: false, ...found });
      intruder.exec("DELETE FROM base_children; INSERT INTO base_children SELECT * FROM kept_base");
      intruder.exec("INSERT OR REPLACE INTO meta SELECT * FROM kept_meta");
      intruder.close();
    }
    storage.expectProven();
  });
});

describe("a round", () => {
  test("takes new limits at its next step", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_DAY_MS });
    await storage.take(...storage.live("old", "completed"));
    storage.clock.pass(2 * ONE_HOUR_MS);
    expect(await storage.retention.run()).toEqual({ inputs: 0, children: 0 });
    storage.retention.limits = { maxAgeMs: ONE_HOUR_MS, maxSizeBytes: undefined };
    expect(await storage.retention.run()).toEqual({ inputs: 4, children: 1 });
  });

  test("that is asked for while one runs is that one, and ends between two steps when the collector stops", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    for (let child = 0; child < 10; child += 1) await storage.take(...storage.live(`child-${child}`, "completed"));
    storage.clock.pass(2 * ONE_HOUR_MS);
    const first = storage.retention.run();
    expect(storage.retention.run()).toBe(first);
    await storage.retention.shutdown();
    // One step of seven inputs: a child and most of another.
    expect(await first).toEqual({ inputs: 7, children: 1 });
    storage.expectProven();
  });

  test("lets the writer have its turn between two steps", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    for (let child = 0; child < 10; child += 1) await storage.take(...storage.live(`child-${child}`, "completed"));
    storage.clock.pass(2 * ONE_HOUR_MS);
    const round = storage.retention.run();
    await storage.take(...storage.live("meanwhile", "running"));
    expect([...storage.faults.store.inputs(0)].length).toBeGreaterThan(3);
    expect(await round).toEqual({ inputs: 40, children: 10 });
    storage.expectProven();
  });

  test("drops diagnostics that are older than the log may be", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    storage.door.reportProblem("test", { code: "malformed" });
    storage.clock.pass(2 * ONE_HOUR_MS);
    storage.door.reportProblem("test", { code: "oversize" });
    await storage.take(...storage.live("next", "running"));
    await storage.retention.run();
    expect(storage.faults.store.diagnostics({ limit: 10 }).map(({ diagnostic }) => diagnostic.code)).toEqual([
      "oversize",
    ]);
  });
});
