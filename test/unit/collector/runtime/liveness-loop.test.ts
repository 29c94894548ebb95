import { LivenessLoop, type LivenessLoopOptions } from "@agent-lifecycle/collector/parts";
import type { ProjectionInput } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { CoreRun, TEST_POLICY } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { MachineClock } from "./machine-clock.ts";
import { ManualPace } from "./manual-pace.ts";

const INTERVAL_MS = 1_000;
const MAX_LATENESS_MS = 2_000;
const ONE_HOUR_MS = 3_600_000;
const { staleAfterMs, reconcileDeadlineMs } = TEST_POLICY;

/** A loop over a real projection, with one running child that owes heartbeats. */
class WatchedChild {
  readonly clock: MachineClock = new MachineClock();
  readonly pace: ManualPace = new ManualPace();
  readonly core: CoreRun = new CoreRun();
  /** Everything that was handed over to be stored, whether it was or not. */
  readonly submitted: ProjectionInput[] = [];
  readonly loop: LivenessLoop;
  isStoreBroken = false;
  isReceiving = true;
  readonly errors: unknown[] = [];
  #sequence = 0;

  constructor(submit?: LivenessLoopOptions["submit"]) {
    this.speak();
    this.loop = new LivenessLoop({
      clock: this.clock,
      liveness: this.core.liveness,
      child: (source, childId) => this.core.child(source, childId),
      submit: submit ?? ((verdicts) => this.store(verdicts)),
      isReceiving: () => this.isReceiving,
      onError: (error) => void this.errors.push(error),
      intervalMs: INTERVAL_MS,
      maxLatenessMs: MAX_LATENESS_MS,
      schedule: this.pace.schedule,
    });
  }

  async store(verdicts: readonly ProjectionInput[]): Promise<boolean> {
    this.submitted.push(...verdicts);
    if (this.isStoreBroken) return false;
    for (const verdict of verdicts) this.core.fold(verdict);
    return true;
  }

  /** The child gives a sign of life, received now. */
  speak(): void {
    const sequence = this.#sequence;
    this.#sequence += 1;
    const beginning = { state: "created" as const, capabilities: { heartbeat: "known" as const } };
    this.core.takeEvent(
      makeEvent({ sequence, at: sequence, ...(sequence === 0 ? beginning : undefined) }),
      this.clock.wallNow(),
    );
  }

  /** Lets time pass in steps of the pace, with a look at each. */
  async passWatching(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += INTERVAL_MS) {
      this.clock.pass(INTERVAL_MS);
      await this.pace.next();
    }
  }

  get record() {
    const record = this.core.child("runner", "child-1");
    if (record === undefined) throw new Error("the child is not there");
    return record;
  }

  /** Types of what was submitted since the last call. */
  takeSubmitted(): readonly string[] {
    return this.submitted.splice(0).map((input) => (input.type === "reconciliation" ? input.outcome : input.type));
  }
}

async function started(): Promise<WatchedChild> {
  const child = new WatchedChild();
  await child.loop.start();
  expect(child.takeSubmitted()).toEqual(["resumed"]);
  return child;
}

describe("the loop", () => {
  test("says that the collector has come before it plans the first look", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const child = new WatchedChild(() => promise);
    const starting = child.loop.start();
    expect(child.pace.plannedMs).toBeUndefined();
    resolve(true);
    await starting;
    expect(child.pace.plannedMs).toBe(INTERVAL_MS);
  });

  test("looks at its pace and finds a silence in the look that follows its limit (S2)", async () => {
    const child = await started();
    await child.passWatching(staleAfterMs - INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["stale"]);
    await child.passWatching(reconcileDeadlineMs - INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["failed"]);
    expect(child.record.state).toBe("lost");
    await child.passWatching(10 * INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
  });

  test("plans the next look only when the last has ended", async () => {
    const child = await started();
    child.clock.pass(INTERVAL_MS);
    child.pace.fire();
    expect(child.pace.plannedMs).toBeUndefined();
    await child.loop.shutdown();
    expect(child.pace.plannedMs).toBeUndefined();
  });
});

describe("an absence of the collector itself (S1)", () => {
  test("by a suspend: the wall clock ran ahead of the monotonic one; nobody is judged for it", async () => {
    const child = await started();
    await child.passWatching(staleAfterMs - INTERVAL_MS);
    child.clock.suspend(ONE_HOUR_MS);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed"]);
    expect(child.record).toMatchObject({ stale: undefined, silentSince: child.clock.wallNow() });
    await child.passWatching(staleAfterMs - INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["stale"]);
  });

  test("by a stop of the process: the look itself comes late", async () => {
    const child = await started();
    child.clock.pass(staleAfterMs + ONE_HOUR_MS);
    await child.pace.next();
    expect(child.takeSubmitted()).toEqual(["resumed"]);
    expect(child.record.stale).toBeUndefined();
  });

  test("is no absence within what a busy machine causes", async () => {
    const child = await started();
    child.clock.pass(INTERVAL_MS + MAX_LATENESS_MS);
    await child.pace.next();
    child.clock.pass(INTERVAL_MS);
    child.clock.suspend(MAX_LATENESS_MS);
    await child.pace.next();
    expect(child.takeSubmitted()).toEqual([]);
    child.clock.pass(INTERVAL_MS);
    child.clock.suspend(MAX_LATENESS_MS + 1);
    await child.pace.next();
    expect(child.takeSubmitted()).toEqual(["resumed"]);
    child.clock.pass(INTERVAL_MS + MAX_LATENESS_MS + 1);
    await child.pace.next();
    expect(child.takeSubmitted()).toEqual(["resumed"]);
  });

  test("asks an open question anew, with the whole time to answer", async () => {
    const child = await started();
    await child.passWatching(staleAfterMs + reconcileDeadlineMs - INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["stale"]);
    child.clock.suspend(ONE_HOUR_MS);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed"]);
    await child.passWatching(reconcileDeadlineMs - INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
    child.speak();
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
    expect(child.record).toMatchObject({ state: "created", stale: undefined });
  });

  test("that could not be stored is said again, and nobody is judged before it is", async () => {
    const child = await started();
    child.clock.suspend(ONE_HOUR_MS);
    child.isStoreBroken = true;
    await child.passWatching(3 * INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed", "resumed", "resumed"]);
    expect(child.record.silentSince).toBeLessThan(child.clock.wallNow() - ONE_HOUR_MS);
    child.isStoreBroken = false;
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed"]);
    await child.passWatching(staleAfterMs - INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["stale"]);
  });

  test("that could not be stored at the start is said again too", async () => {
    const child = new WatchedChild();
    child.isStoreBroken = true;
    child.clock.pass(ONE_HOUR_MS);
    await child.loop.start();
    child.isStoreBroken = false;
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed", "resumed"]);
    expect(child.record).toMatchObject({ stale: undefined, silentSince: child.clock.wallNow() });
  });
});

describe("a wall clock that is set", () => {
  test("forward by an hour is taken as an absence: resumed is said, nobody is judged", async () => {
    const child = await started();
    child.clock.setWall(ONE_HOUR_MS);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed"]);
    await child.passWatching(staleAfterMs - INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
    expect(child.record.stale).toBeUndefined();
  });

  test("back by an hour leaves no child unwatched: its silence begins anew", async () => {
    const child = await started();
    child.clock.setWall(-ONE_HOUR_MS);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed"]);
    expect(child.record.silentSince).toBe(child.clock.wallNow());
    await child.passWatching(staleAfterMs);
    expect(child.takeSubmitted()).toEqual(["stale"]);
  });

  test("back by an hour and forth again judges nobody, however often", async () => {
    const child = await started();
    for (let round = 0; round < 3; round += 1) {
      child.clock.setWall(-ONE_HOUR_MS);
      await child.passWatching(5 * INTERVAL_MS);
      expect(child.takeSubmitted()).toEqual(["resumed"]);
      child.speak();
      child.clock.setWall(ONE_HOUR_MS);
      await child.passWatching(5 * INTERVAL_MS);
      expect(child.takeSubmitted()).toEqual(["resumed"]);
      expect(child.record).toMatchObject({ state: "created", stale: undefined });
    }
    await child.passWatching(staleAfterMs);
    expect(child.takeSubmitted()).toEqual(["stale"]);
  });
});

describe("while evidence cannot be stored", () => {
  test("no silence is judged, and every silence begins anew when it can be", async () => {
    const child = await started();
    await child.passWatching(staleAfterMs - INTERVAL_MS);
    child.isReceiving = false;
    child.isStoreBroken = true;
    await child.passWatching(3 * INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed", "resumed", "resumed"]);
    child.isReceiving = true;
    child.isStoreBroken = false;
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["resumed"]);
    await child.passWatching(staleAfterMs - INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual([]);
    await child.passWatching(INTERVAL_MS);
    expect(child.takeSubmitted()).toEqual(["stale"]);
  });
});

describe("a verdict that could not be stored", () => {
  /** What is submitted while the time passes again in which the verdict came due. */
  async function submittedWithin(child: WatchedChild, ms: number): Promise<readonly string[]> {
    await child.passWatching(ms);
    return child.takeSubmitted();
  }

  test("is found again, first stale, then lost, once its time has come without an outage", async () => {
    const child = await started();
    child.isStoreBroken = true;
    expect(await submittedWithin(child, staleAfterMs)).toEqual(["stale"]);
    expect(child.record.stale).toBeUndefined();
    child.isStoreBroken = false;
    expect(await submittedWithin(child, INTERVAL_MS + staleAfterMs)).toEqual(["resumed", "stale"]);
    child.isStoreBroken = true;
    expect(await submittedWithin(child, reconcileDeadlineMs)).toEqual(["failed"]);
    expect(child.record.state).toBe("created");
    child.isStoreBroken = false;
    expect(await submittedWithin(child, INTERVAL_MS + reconcileDeadlineMs)).toEqual(["resumed", "failed"]);
    expect(child.record.state).toBe("lost");
    expect(await submittedWithin(child, staleAfterMs)).toEqual([]);
  });

  test("is not given when evidence came before its time came again (S7)", async () => {
    const child = await started();
    child.isStoreBroken = true;
    expect(await submittedWithin(child, staleAfterMs)).toEqual(["stale"]);
    child.isStoreBroken = false;
    expect(await submittedWithin(child, INTERVAL_MS)).toEqual(["resumed"]);
    child.clock.pass(INTERVAL_MS);
    child.speak();
    await child.pace.next();
    expect(await submittedWithin(child, staleAfterMs - INTERVAL_MS)).toEqual([]);
  });
});

test("a look that fails is reported, the next one is planned, and no child is forgotten", async () => {
  const fault = new Error("a fault of the program");
  let isFaulty = false;
  const child: WatchedChild = new WatchedChild((verdicts) => {
    if (isFaulty) throw fault;
    return child.store(verdicts);
  });
  await child.loop.start();
  await child.passWatching(staleAfterMs - INTERVAL_MS);
  isFaulty = true;
  await child.passWatching(INTERVAL_MS);
  expect(child.errors).toEqual([fault]);
  isFaulty = false;
  await child.passWatching(INTERVAL_MS + staleAfterMs);
  expect(child.takeSubmitted()).toEqual(["resumed", "resumed", "stale"]);
});

describe("a shutdown", () => {
  test("waits for the look under way, and no further look follows", async () => {
    const gate = Promise.withResolvers<boolean>();
    const order: string[] = [];
    const child: WatchedChild = new WatchedChild(async (verdicts) => {
      const isVerdict = verdicts.some(({ type }) => type === "stale");
      if (isVerdict) await gate.promise;
      const isStored = await child.store(verdicts);
      if (isVerdict) order.push("stored");
      return isStored;
    });
    await child.loop.start();
    await child.passWatching(staleAfterMs - INTERVAL_MS);
    child.clock.pass(INTERVAL_MS);
    child.pace.fire();
    const shutdown = child.loop.shutdown().then(() => void order.push("shut down"));
    gate.resolve(true);
    await shutdown;
    expect(order).toEqual(["stored", "shut down"]);
    expect(child.record.stale).toBeDefined();
    expect(child.pace.plannedMs).toBeUndefined();
  });

  test("is safe without a start, and twice", async () => {
    const child = new WatchedChild();
    await child.loop.shutdown();
    await child.loop.shutdown();
    expect(child.takeSubmitted()).toEqual([]);
  });

  test("while the start still runs waits for it, and no look is planned after it", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const child = new WatchedChild(() => promise);
    const order: string[] = [];
    const starting = child.loop.start();
    const shutdown = child.loop.shutdown().then(() => void order.push("shut down"));
    order.push("stored");
    resolve(true);
    await Promise.all([starting, shutdown]);
    expect(order).toEqual(["stored", "shut down"]);
    expect(child.pace.plannedMs).toBeUndefined();
  });
});
