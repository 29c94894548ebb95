import { describe, expect, test } from "vitest";
import { makeEvent } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { RetainedStorage } from "./retained-storage.ts";

const ONE_MINUTE_MS = 60_000;
const ONE_HOUR_MS = 60 * ONE_MINUTE_MS;

describe("retention by age", () => {
  test("lets ended children go when all that speaks of them is too old, and keeps those that live", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    await storage.take(...storage.live("old", "completed"), ...storage.live("living", "running"));
    storage.clock.pass(40 * ONE_MINUTE_MS);
    await storage.take(...storage.live("young", "completed"));
    storage.clock.pass(30 * ONE_MINUTE_MS);
    expect(await storage.retention.run()).toEqual({ inputs: 7, children: 1 });
    expect(["old", "living", "young"].map((childId) => storage.stateOf(childId))).toEqual([
      undefined,
      "running",
      "completed",
    ]);
    expect(storage.state.summary).toMatchObject({ started: 2, live: 1 });
    storage.expectProven();
  });

  test("changes nothing of a child that lives: what comes next is folded as if all were there", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    await storage.take(...storage.live("living", "running"));
    const before = storage.state.child("runner", "living");
    storage.clock.pass(2 * ONE_HOUR_MS);
    await storage.retention.run();
    expect(storage.state.child("runner", "living")).toEqual(before);
    const at = storage.clock.wallNow() - START_MS;
    expect(await storage.take(makeEvent({ childId: "living", sequence: 3, state: "completed", at }))).toEqual([
      "applied",
    ]);
    storage.expectProven();
  });

  test("refuses what is older than the log of a child that is not known, and takes what is younger", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    const old = storage.live("old", "completed");
    await storage.take(...old);
    storage.clock.pass(2 * ONE_HOUR_MS);
    await storage.take(...storage.live("marker", "completed"));
    storage.clock.pass(2 * ONE_HOUR_MS);
    await storage.retention.run();
    expect(await storage.take(...old)).toEqual(old.map(() => "beyond_retention"));
    expect(await storage.take(...storage.live("new", "completed"))).toEqual([
      "applied",
      "applied",
      "applied",
      "applied",
    ]);
    storage.expectProven();
  });
});

describe("retention by size", () => {
  test("takes the oldest until it fits, but nothing of the last ten minutes", async () => {
    const storage = new RetainedStorage({ maxSizeBytes: 1 });
    for (let child = 0; child < 30; child += 1) await storage.take(...storage.live(`child-${child}`, "completed"));
    expect(await storage.retention.run()).toEqual({ inputs: 0, children: 0 });
    storage.clock.pass(11 * ONE_MINUTE_MS);
    expect(await storage.retention.run()).toEqual({ inputs: 120, children: 30 });
    storage.expectProven();
  });

  test("says once that only live children are left, and goes on without them", async () => {
    const storage = new RetainedStorage({ maxSizeBytes: 1 });
    await storage.take(...storage.live("living", "running"));
    storage.clock.pass(ONE_HOUR_MS);
    await storage.retention.run();
    await storage.retention.run();
    expect(storage.faultsTold).toEqual([expect.stringContaining("live children")]);
    expect(storage.stateOf("living")).toBe("running");
    storage.expectProven();
  });
});

describe("housekeeping that succeeds", () => {
  test("does not say that the store takes inputs again: on a full disk it needs no room", async () => {
    const storage = new RetainedStorage({ maxAgeMs: ONE_HOUR_MS });
    await storage.take(...storage.live("old", "completed"));
    storage.clock.pass(2 * ONE_HOUR_MS);
    storage.faults.breakDown("append");
    await expect(storage.take(...storage.live("next", "running"))).rejects.toThrow("unavailable");
    expect(await storage.retention.run()).toEqual({ inputs: 4, children: 1 });
    expect(storage.writer.unavailable).toContain("failed at append");
    storage.faults.repair();
    await storage.take(...storage.live("next", "running"));
    expect(storage.writer.unavailable).toBeUndefined();
  });
});
