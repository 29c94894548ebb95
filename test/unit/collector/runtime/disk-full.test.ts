import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreUnavailableError } from "@agent-lifecycle/collector";
import { openSqliteStore, verifyStore } from "@agent-lifecycle/collector/parts";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { makeEvent } from "../../../kit/events.ts";
import { mountSmallDisk } from "../../../kit/small-disk.ts";
import { memoryOf, offer, readiness, startEmbedded, store } from "./embedded-collector.ts";

/** A child's stream of events of about a kilobyte each. */
function largeEvents(first: number, count: number): readonly LifecycleEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const sequence = first + index;
    const state = (["created", "starting", "running"] as const)[sequence];
    return makeEvent({
      childId: "a",
      sequence,
      at: sequence,
      activity: `${sequence} `.padEnd(1_000, "x"),
      ...(state && { state }),
    });
  });
}

const EVENTS_PER_REQUEST = 50;

describe("a disk that is full", () => {
  test("refuses retryably, keeps all that was acknowledged, and is used again when there is room", async (context) => {
    const disk = mountSmallDisk(context, "size=3m").path;
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(2 * 1024 * 1024));
    const embedded = await startEmbedded({ database: join(disk, "collector.db") });
    let acknowledged = 0;
    for (;;) {
      const before = memoryOf(embedded, ["a"]);
      const answer = await offer(embedded, largeEvents(acknowledged, EVENTS_PER_REQUEST));
      if (answer.kind !== "stored") {
        expect(answer).toMatchObject({ kind: "unavailable", retryable: true });
        expect(answer).toMatchObject({ reason: expect.stringMatching(/database or disk is full|disk I\/O error/) });
        expect(memoryOf(embedded, ["a"])).toEqual(before);
        break;
      }
      acknowledged += EVENTS_PER_REQUEST;
    }
    expect(acknowledged).toBeGreaterThan(0);
    expect((await readiness(embedded)).status).toBe(503);
    expect(embedded.collector.reader.child("runner", "a")?.highestSequence).toBe(acknowledged - 1);
    expect(embedded.collector.reader.inputsOfChild(0, 0, 10_000)).toHaveLength(acknowledged);
    rmSync(ballast);
    await store(embedded, ...largeEvents(acknowledged, EVENTS_PER_REQUEST));
    expect((await readiness(embedded)).status).toBe(200);
    expect(embedded.takeLoggedFaults()).not.toEqual([]);
    expect(verifyStore(embedded.faults.store)).toMatchObject({ agrees: true });
    expect(embedded.collector.reader.child("runner", "a")).toMatchObject({
      highestSequence: acknowledged + EVENTS_PER_REQUEST - 1,
      gaps: [],
      conflicts: 0,
    });
  });
});

describe("a disk that is read-only", () => {
  test("is refused at the start in a sentence that names the database", (context) => {
    const disk = mountSmallDisk(context, "size=1m,ro").path;
    const path = join(disk, "collector.db");
    expect(() => openSqliteStore({ path })).toThrow(StoreUnavailableError);
    expect(() => openSqliteStore({ path })).toThrow(`cannot use the database ${path}`);
  });
});
