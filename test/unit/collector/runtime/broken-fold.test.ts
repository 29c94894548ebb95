import { DatabaseSync } from "node:sqlite";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { makeEvent } from "../../../kit/events.ts";
import { memoryOf, offer, readiness, startEmbedded, store } from "./embedded-collector.ts";

const NOT_PROCESSED = { kind: "unavailable", retryable: false, reason: "the input could not be processed" };
const STORED = { kind: "stored", outcomes: [{ status: "applied", diagnostics: [] }] };

const created = (childId: string): LifecycleEvent => makeEvent({ childId, sequence: 0, state: "created" });

describe("an input that the program cannot process", () => {
  test("takes no other request of its commit with it, and is not asked for again", async () => {
    const embedded = await startEmbedded();
    const published: number[] = [];
    embedded.collector.updates.subscribe((updates) => void published.push(...updates.map(({ inputId }) => inputId)));
    const before = embedded.collector.reader.lastInputId();
    embedded.faults.poison("poisoned");
    const answers = ["a", "poisoned", "b"].map((childId) => offer(embedded, [created(childId)]));
    expect(await Promise.all(answers)).toEqual([STORED, NOT_PROCESSED, STORED]);
    expect(embedded.collector.reader.child("runner", "poisoned")).toBeUndefined();
    expect(memoryOf(embedded, ["a", "b"])).toHaveLength(2);
    expect(published).toEqual([before + 1, before + 2]);
    expect(embedded.takeLoggedFaults()).toEqual([
      expect.stringContaining("TypeError"),
      expect.stringContaining("TypeError"),
    ]);
  });

  test("takes the whole of its own request back, and leaves the collector ready", async () => {
    const embedded = await startEmbedded();
    embedded.faults.poison("poisoned");
    expect(await offer(embedded, [created("a"), created("poisoned"), created("b")])).toEqual(NOT_PROCESSED);
    expect(memoryOf(embedded, ["a", "b", "poisoned"])).toEqual([]);
    expect((await readiness(embedded)).status).toBe(200);
    expect(embedded.takeLoggedFaults()).toHaveLength(1);
    expect(await store(embedded, created("a"))).toEqual(["applied"]);
    expect(embedded.collector.reader.child("runner", "a")?.key).toBe(0);
  });

  test("may be one about a stored record that is damaged: the others of the commit are stored", async () => {
    const embedded = await startEmbedded();
    const { reader } = embedded.collector;
    await store(embedded, created("ended"), makeEvent({ childId: "ended", sequence: 1, state: "cancelled", at: 1 }));
    expect(reader.children({ limit: 1 })).toHaveLength(1);
    const intruder = new DatabaseSync(embedded.database);
    intruder.exec(`UPDATE children SET record = '{"key":' WHERE child_id = 'ended'`);
    intruder.close();
    const late = makeEvent({ childId: "ended", sequence: 2, at: 2 });
    const answers = [created("a"), late, created("b")].map((event) => offer(embedded, [event]));
    expect(await Promise.all(answers)).toEqual([STORED, NOT_PROCESSED, STORED]);
    expect((await readiness(embedded)).status).toBe(200);
    expect(embedded.takeLoggedFaults()).toEqual([
      expect.stringContaining("the record of child 0 is damaged"),
      expect.stringContaining("the record of child 0 is damaged"),
    ]);
  });
});
