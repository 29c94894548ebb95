import {
  createMetrics,
  Door,
  openSqliteStore,
  ProjectionState,
  Retention,
  type RetentionLimits,
  verifyStore,
  Writer,
} from "@agent-lifecycle/collector/parts";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, onTestFinished, test } from "vitest";
import { TEST_POLICY } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { FaultyStore } from "../../../kit/faulty-store.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { candidatesOf } from "./embedded-collector.ts";
import { MachineClock } from "./machine-clock.ts";

const ONE_MINUTE_MS = 60_000;
const ONE_HOUR_MS = 60 * ONE_MINUTE_MS;

/** What retention works on, in memory, with a clock that a test moves. */
class Storage {
  readonly clock = new MachineClock();
  readonly faults = new FaultyStore(openSqliteStore({ path: ":memory:" }));
  readonly faultsTold: string[] = [];
  readonly state = new ProjectionState(this.faults.store);
  readonly metrics = createMetrics();
  readonly writer: Writer;
  readonly door: Door;
  readonly retention: Retention;

  constructor(limits: Partial<RetentionLimits>) {
    const { clock, state, metrics } = this;
    const { store } = this.faults;
    const { telemetry } = metrics;
    const publisher = { publish: () => {}, subscribe: () => () => {} };
    const onError = (message: string): void => void this.faultsTold.push(message);
    const snapshotPolicyOf = () => TEST_POLICY;
    this.writer = new Writer({
      store,
      state,
      clock,
      telemetry,
      publisher,
      snapshotPolicyOf,
      onFolded: () => {},
      onError,
    });
    this.door = new Door({ writer: this.writer, clock, telemetry });
    this.retention = new Retention({
      store,
      state,
      writer: this.writer,
      clock,
      publisher,
      telemetry,
      onError,
      limits: { maxAgeMs: undefined, maxSizeBytes: undefined, ...limits },
      inputsPerStep: 7,
      schedule: (callback) => {
        const immediate = setImmediate(callback);
        return () => clearImmediate(immediate);
      },
    });
    onTestFinished(() => store.close());
  }

  async take(...events: readonly LifecycleEvent[]): Promise<readonly string[]> {
    const answer = await this.door.acceptEvents(candidatesOf(events), { receiver: "test", backfill: false, bytes: 1 });
    if (answer.kind !== "stored") throw new Error(JSON.stringify(answer));
    return answer.outcomes.map(({ status, diagnostics }) => diagnostics[0]?.code ?? status);
  }

  /** Events of a child from its beginning to `last`, observed now. */
  live(childId: string, last: "running" | "completed"): readonly LifecycleEvent[] {
    const at = this.clock.wallNow() - START_MS;
    return (["created", "starting", "running", "completed"] as const)
      .slice(0, last === "running" ? 3 : 4)
      .map((state, sequence) => makeEvent({ childId, state, sequence, at }));
  }

  stateOf(childId: string): string | undefined {
    return this.state.child("runner", childId)?.state;
  }

  expectProven(): void {
    this.writer.checkpoint();
    expect(verifyStore(this.faults.store)).toMatchObject({ agrees: true });
    const { started, live, byState } = this.state.summary;
    expect(started).toBe(live + byState.completed + byState.failed + byState.cancelled + byState.lost);
  }
}

describe("retention by age", () => {
  test("lets ended children go when all that speaks of them is too old, and keeps those that live", async () => {
    const storage = new Storage({ maxAgeMs: ONE_HOUR_MS });
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
    const storage = new Storage({ maxAgeMs: ONE_HOUR_MS });
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
    const storage = new Storage({ maxAgeMs: ONE_HOUR_MS });
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
    const storage = new Storage({ maxSizeBytes: 1 });
    for (let child = 0; child < 30; child += 1) await storage.take(...storage.live(`child-${child}`, "completed"));
    expect(await storage.retention.run()).toEqual({ inputs: 0, children: 0 });
    storage.clock.pass(11 * ONE_MINUTE_MS);
    expect(await storage.retention.run()).toEqual({ inputs: 120, children: 30 });
    storage.expectProven();
  });

  test("says once that only live children are left, and goes on without them", async () => {
    const storage = new Storage({ maxSizeBytes: 1 });
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
    const storage = new Storage({ maxAgeMs: ONE_HOUR_MS });
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
