import { describe, expect, test } from "vitest";
import { makeEvent } from "../../../kit/events.ts";
import { type EmbeddedCollector, metric, offer, startEmbedded } from "./embedded-collector.ts";

const REFUSED = { kind: "overloaded", retryAfterSeconds: 1 };
const STORED = expect.objectContaining({ kind: "stored" });

const bounded = () => startEmbedded({ configuration: { limits: { queueBytes: 1_000 } } });

/** One request of this size, about a child of its own. */
function request(embedded: EmbeddedCollector, childId: string, bytes: number) {
  return offer(embedded, [makeEvent({ childId, sequence: 0, state: "created" })], bytes);
}

describe("the queue of what is received and not yet durable", () => {
  test("takes what fits, refuses the rest retryably, and keeps nothing of what it refused", async () => {
    const embedded = await bounded();
    const answers = [request(embedded, "a", 600), request(embedded, "b", 401), request(embedded, "c", 400)];
    expect(await Promise.all(answers)).toEqual([STORED, REFUSED, STORED]);
    expect(embedded.collector.reader.child("runner", "b")).toBeUndefined();
    const refusals = 'otelcol_receiver_refused_requests_total{receiver="test",reason="overloaded"}';
    expect(await metric(embedded, refusals)).toBe(1);
  });

  test("gives the bytes back with the commit", async () => {
    const embedded = await bounded();
    for (let round = 0; round < 5; round += 1) {
      expect(await request(embedded, `child-${round}`, 1_000)).toEqual(STORED);
    }
    expect(await metric(embedded, "agent_lifecycle_queue_bytes")).toBe(0);
  });

  test("gives the bytes back when the commit fails", async () => {
    const embedded = await bounded();
    embedded.faults.failsThenWorks("commit");
    expect(await request(embedded, "a", 1_000)).toMatchObject({ kind: "unavailable" });
    expect(embedded.takeLoggedFaults()).toHaveLength(1);
    expect(await metric(embedded, "agent_lifecycle_queue_bytes")).toBe(0);
    expect(await request(embedded, "a", 1_000)).toEqual(STORED);
  });

  test("lets a request in alone that is larger than all of it", async () => {
    const embedded = await bounded();
    const answers = [request(embedded, "huge", 50_000), request(embedded, "tiny", 1)];
    expect(await Promise.all(answers)).toEqual([STORED, REFUSED]);
    expect(await Promise.all([request(embedded, "tiny", 1), request(embedded, "huge-2", 50_000)])).toEqual([
      STORED,
      REFUSED,
    ]);
  });

  test("is emptied by a shutdown, after which nothing is taken", async () => {
    const embedded = await bounded();
    const waiting = request(embedded, "a", 10);
    const shutdown = embedded.collector.shutdown();
    expect(await waiting).toEqual(STORED);
    await shutdown;
    expect(await request(embedded, "b", 10)).toEqual({
      kind: "unavailable",
      retryable: true,
      reason: "the collector is shutting down",
    });
  });
});
