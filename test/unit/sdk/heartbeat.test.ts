import { describe, expect, it } from "vitest";
import { writtenLifecycle } from "./lifecycle-fixture.ts";

const INTERVAL_MS = 30_000;

describe("automatic heartbeats", () => {
  async function beats(
    events: () => Promise<readonly { readonly kind: string; readonly childId: string }[]>,
    childId: string,
  ): Promise<number> {
    return (await events()).filter((event) => event.kind === "heartbeat" && event.childId === childId).length;
  }

  it("come once per interval from the first event to the last: a child that waits for its turn is not silent", async () => {
    const { lifecycle, clock, events } = writtenLifecycle();
    const child = lifecycle.child({ childId: "c" });
    await clock.advance(INTERVAL_MS - 3_001);
    expect(await beats(events, "c")).toBe(0);
    await clock.advance(3_001);
    expect(await beats(events, "c")).toBe(1);
    child.starting();
    await clock.advance(9 * INTERVAL_MS);
    expect(await beats(events, "c")).toBe(10);
    child.failed();
    await clock.advance(5 * INTERVAL_MS);
    expect(await beats(events, "c")).toBe(10);
  });

  it("are spread: many children do not speak in one turn", async () => {
    const { lifecycle, clock } = writtenLifecycle();
    for (let step = 0; step < 10; step += 1) {
      for (let index = 0; index < 10; index += 1) lifecycle.child().starting();
      await clock.advance(INTERVAL_MS / 10);
    }
    await clock.advance(INTERVAL_MS);
    const before = lifecycle.counters().emitted;
    const bursts: number[] = [];
    for (let step = 0; step < 10; step += 1) {
      const atStart = lifecycle.counters().emitted;
      await clock.advance(INTERVAL_MS / 10);
      bursts.push(lifecycle.counters().emitted - atStart);
    }
    expect(lifecycle.counters().emitted - before).toBe(100);
    expect(Math.max(...bursts)).toBeLessThanOrEqual(20);
  });

  it("use one timer for all children and none when nobody is left", async () => {
    const { lifecycle, clock, events } = writtenLifecycle();
    const children = Array.from({ length: 50 }, () => lifecycle.child());
    await events();
    await clock.advance(0);
    for (const child of children) child.starting();
    await events();
    await clock.advance(0);
    expect(clock.waiting).toBe(1);
    for (const child of children) child.cancelled();
    await events();
    await clock.advance(0);
    expect(clock.waiting).toBe(0);
  });

  it("are not sent for external children unless asked for", async () => {
    const { lifecycle, clock, events } = writtenLifecycle();
    lifecycle.child({ childId: "silent", external: true, observedState: "running" });
    lifecycle.child({ childId: "loud", external: true, observedState: "running", automaticHeartbeats: true });
    await clock.advance(2 * INTERVAL_MS);
    expect(await beats(events, "silent")).toBe(0);
    expect(await beats(events, "loud")).toBe(2);
  });

  it("keep the interval that was asked for, and none at all with 0", async () => {
    const fast = writtenLifecycle({ heartbeatIntervalMs: 100 });
    fast.lifecycle.child({ childId: "c" }).starting();
    await fast.clock.advance(1_000);
    expect(await beats(fast.events, "c")).toBe(10);
    const off = writtenLifecycle({ heartbeatIntervalMs: 0 });
    off.lifecycle.child({ childId: "c" }).starting();
    await off.clock.advance(1_000_000);
    expect(await beats(off.events, "c")).toBe(0);
  });

  it("end with the lifecycle", async () => {
    const { lifecycle, clock } = writtenLifecycle();
    lifecycle.child().starting();
    await lifecycle.shutdown();
    const { emitted } = lifecycle.counters();
    await clock.advance(10 * INTERVAL_MS);
    expect(lifecycle.counters().emitted).toBe(emitted);
    expect(clock.waiting).toBe(0);
  });
});
