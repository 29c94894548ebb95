import { Writable } from "node:stream";
import type { Collector } from "@agent-lifecycle/collector";
import { UpdateStream } from "@agent-lifecycle/collector/parts";
import type { LifecycleEvent, SummaryView } from "@agent-lifecycle/proto";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeEvent, makeSnapshot } from "../../kit/events.ts";
import { startApi, startTestCollector, store } from "./collector-fixture.ts";
import { EventStreamClient } from "./event-stream-client.ts";

const origin = { receiver: "test", backfill: false, bytes: 0 };

const created = (childId: string): LifecycleEvent => makeEvent({ childId, state: "created", sequence: 1 });
const starting = (childId: string): LifecycleEvent => makeEvent({ childId, state: "starting", sequence: 2, at: 1 });

function crowd(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `child ${index}`);
}

const activity = (childId: string, sequence: number): LifecycleEvent =>
  makeEvent({
    childId,
    kind: "activity",
    sequence,
    at: sequence,
    activity: `step ${sequence} ${"of many ".repeat(100)}`,
  });

async function storeInParts(collector: Collector, events: readonly LifecycleEvent[]): Promise<void> {
  for (let start = 0; start < events.length; start += 1_000) await store(collector, events.slice(start, start + 1_000));
}

describe("the stream", () => {
  it("begins with the summary and goes on with every change", async () => {
    const collector = await startTestCollector();
    await store(collector, [created("before")]);
    const client = await EventStreamClient.open(collector.apiUrl);
    await client.until(() => client.events.length === 1);
    expect(client.events[0]).toMatchObject({ event: "summary", data: { started: 1 } });
    await store(collector, [created("a")]);
    await client.until(() => client.children.size === 1);
    expect(client.children).toEqual(new Map([["a", "created"]]));
    await client.until(() => client.events.at(-1)?.event === "summary" && client.events.length > 1);
    expect(client.events.at(-1)).toMatchObject({ data: { started: 2, live: 2 } });
    expect(client.lastId).toBe(collector.reader.lastInputId());
  });

  it.each([
    ["?after", (id: number) => [`?after=${id}`, {}] as const],
    ["Last-Event-ID", (id: number) => ["", { "last-event-id": String(id) }] as const],
    ["Last-Event-ID before ?after", (id: number) => ["?after=0", { "last-event-id": String(id) }] as const],
  ])("resumes after the last id (%s): nothing is missed, nothing older is told again", async (_name, resume) => {
    const collector = await startTestCollector();
    await store(collector, [created("a"), created("b")]);
    const first = await EventStreamClient.open(collector.apiUrl, "?after=0");
    await first.until(() => first.children.size === 2);
    first.close();
    const known = first.lastId;
    await store(collector, [starting("b"), created("c")]);
    const [query, headers] = resume(known);
    const second = await EventStreamClient.open(collector.apiUrl, query, headers);
    await second.until(() => second.children.size === 2);
    expect([...second.children]).toEqual([
      ["b", "starting"],
      ["c", "created"],
    ]);
  });

  it("gives an id only once everything up to it was sent: one input can change many children", async () => {
    const collector = await startTestCollector();
    const children = crowd(600).map((childId) => ({ childId }));
    const client = await EventStreamClient.open(collector.apiUrl);
    await client.until(() => client.events.length === 1);
    await collector.intake.acceptSnapshot(makeSnapshot({ children }), origin);
    await client.until(() => client.children.size === 600 && client.events.at(-1)?.event === "summary");
    const frames = client.events.filter(({ event }) => event === "child");
    expect(frames.map(({ id }) => id).filter((id) => id !== undefined)).toEqual([
      String(collector.reader.lastInputId()),
    ]);
    expect(frames.at(-1)?.id).toBeDefined();
    const complete = client.events.findIndex(({ id }) => id === frames.at(-1)?.id);
    expect(client.events.slice(1, complete).filter(({ id }) => id !== undefined)).toEqual([]);
  });

  it("tells the newest state of a child that changes faster than it sends", async () => {
    const collector = await startTestCollector();
    const server = await startApi(collector, { coalesceMs: 50 });
    const client = await EventStreamClient.open(server.url());
    await client.until(() => client.events.length === 1);
    const steps = [created("a"), starting("a"), makeEvent({ childId: "a", state: "running", sequence: 3, at: 2 })];
    for (const step of steps) await store(collector, [step]);
    await client.until(() => client.children.get("a") === "running");
    expect(client.events.filter(({ event }) => event === "child")).toHaveLength(1);
  });

  it("has no row for a child without a state, and counts it", async () => {
    const collector = await startTestCollector();
    const client = await EventStreamClient.open(collector.apiUrl);
    await client.until(() => client.events.length === 1);
    await store(collector, [makeEvent({ childId: "a", kind: "heartbeat", sequence: 1 })]);
    await client.until(() => client.events.length === 2);
    expect(client.events[1]).toMatchObject({ event: "summary", data: { stateUnknown: 1, evidenceSeen: true } });
  });

  it("asks a reader that missed too much, or knows another log, to list anew", async () => {
    const collector = await startTestCollector();
    await storeInParts(collector, crowd(2_001).map(created));
    for (const query of ["?after=0", "?after=999999"]) {
      const client = await EventStreamClient.open(collector.apiUrl, query);
      await client.until(() => client.events.length === 2);
      const position = collector.reader.lastInputId();
      expect(client.events.map(({ event }) => event)).toEqual(["resync", "summary"]);
      expect(client.events[0]).toMatchObject({ id: String(position), data: { position } });
    }
    const nearly = await EventStreamClient.open(collector.apiUrl, "?after=2");
    await nearly.until(() => nearly.children.size === 1_999 || nearly.events.some(({ event }) => event === "resync"));
    expect(nearly.children.size).toBe(1_999);
  });

  it("refuses an id that is none", async () => {
    const collector = await startTestCollector();
    const client = await EventStreamClient.open(collector.apiUrl, "", { "last-event-id": "yesterday" });
    expect(client.statusCode).toBe(400);
  });

  it("gives signs of life while nothing happens", async () => {
    const collector = await startTestCollector();
    const server = await startApi(collector, { heartbeatMs: 5 });
    const client = await EventStreamClient.open(server.url());
    await client.until(() => client.text.split(": alive\n\n").length > 3);
    expect(client.events).toHaveLength(1);
  });

  it("ends when the server shuts down, and does not hold it up", async () => {
    const collector = await startTestCollector();
    const server = await startApi(collector, { shutdownTimeoutMs: 60_000 });
    const client = await EventStreamClient.open(server.url());
    await server.shutdown();
    await client.until(() => client.closed);
  });

  it("refuses retryably more readers than it has room for, and has room again after one left", async () => {
    const collector = await startTestCollector();
    const server = await startApi(collector, { maxStreams: 1 });
    const first = await EventStreamClient.open(server.url());
    const second = await EventStreamClient.open(server.url());
    expect([first.statusCode, second.statusCode]).toEqual([200, 503]);
    first.close();
    await first.until(() => first.closed);
    for (;;) {
      const third = await EventStreamClient.open(server.url());
      if (third.statusCode === 200) break;
    }
  });
});

describe("readers that come back", () => {
  const large = (childId: string): LifecycleEvent =>
    makeEvent({
      childId,
      state: "created",
      sequence: 1,
      activity: "é".repeat(1_024),
      details: { name: "n".repeat(256) },
    });

  it("are sent what they missed in pieces: one that does not read takes little memory", async () => {
    const collector = await startTestCollector();
    await storeInParts(collector, crowd(2_000).map(large));
    const { reader, updates, apiUrl } = collector;
    const summary = (await (await fetch(`${apiUrl}/api/v1/summary`)).json()) as SummaryView;
    const stream = new UpdateStream({ reader, updates, summaryView: () => summary });
    onTestFinished(() => stream.close());
    const unread = new Writable({ write: () => {} });
    stream.open(unread, 0);
    expect(unread.writableLength).toBeLessThan(256 * 1_024);
    const client = await EventStreamClient.open(apiUrl, "?after=0");
    await client.until(() => client.children.size === 2_000);
    expect(client.text.length).toBeGreaterThan(2_000 * 1_024);
  });

  it("have what they missed looked up once for all of them, and miss nothing of what follows", async () => {
    const collector = await startTestCollector();
    await storeInParts(collector, crowd(1_000).map(created));
    let lookUps = 0;
    const reader: Collector["reader"] = {
      ...collector.reader,
      childrenChangedSince: (inputId, limit) => {
        lookUps += 1;
        return collector.reader.childrenChangedSince(inputId, limit);
      },
    };
    const server = await startApi(collector, {}, { reader });
    const clients: EventStreamClient[] = [];
    for (const childId of ["child 1", "child 2", "child 3"]) {
      clients.push(await EventStreamClient.open(server.url(), "?after=0"));
      await store(collector, [starting(childId)]);
    }
    const position = collector.reader.lastInputId();
    for (const client of clients) await client.until(() => client.lastId === position);
    expect(clients.map(({ children }) => children.size)).toEqual([1_000, 1_000, 1_000]);
    expect(clients.map(({ children }) => children.get("child 3"))).toEqual(["starting", "starting", "starting"]);
    expect(lookUps).toBe(1);
  });
});

describe("a reader that does not keep up", () => {
  it("holds nobody up, and gets the newest state of each child when it reads on", async () => {
    const collector = await startTestCollector();
    const server = await startApi(collector, { coalesceMs: 1, heartbeatMs: 600_000 });
    const slow = await EventStreamClient.open(server.url());
    const quick = await EventStreamClient.open(server.url());
    await slow.until(() => slow.events.length === 1);
    slow.pause();
    const children = crowd(1_000);
    await store(collector, children.map(created));
    const last = 30;
    for (let sequence = 2; sequence <= last; sequence += 1) {
      await store(
        collector,
        children.map((childId) => activity(childId, sequence)),
      );
      const position = collector.reader.lastInputId();
      await quick.until(() => quick.lastId === position);
    }
    slow.resume();
    await slow.until(() => slow.lastId === collector.reader.lastInputId());
    expect(slow.events.some(({ event }) => event === "resync")).toBe(false);
    expect(slow.text.length).toBeLessThan(quick.text.length);
    const newest = new Map<string, string>();
    for (const { event, data } of slow.events) {
      const { childId, activity: shown } = data as { readonly childId: string; readonly activity: string };
      if (event === "child") newest.set(childId, shown);
    }
    expect(newest.size).toBe(1_000);
    for (const shown of newest.values()) expect(shown).toMatch(new RegExp(`^step ${last} `));
    const ids = slow.events.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  });

  it("is told to list anew when more children changed than can wait for it, and then follows again", async () => {
    const collector = await startTestCollector();
    const server = await startApi(collector, { coalesceMs: 1, heartbeatMs: 600_000 });
    const slow = await EventStreamClient.open(server.url());
    await slow.until(() => slow.events.length === 1);
    slow.pause();
    await storeInParts(collector, crowd(40_000).map(created));
    const quick = await EventStreamClient.open(server.url());
    await store(collector, [created("last of the crowd")]);
    await quick.until(() => quick.children.has("last of the crowd"));
    slow.resume();
    await slow.until(() => slow.lastId === collector.reader.lastInputId());
    expect(slow.events.some(({ event }) => event === "resync")).toBe(true);
    await store(collector, [created("afterwards")]);
    await slow.until(() => slow.children.has("afterwards"));
  });

  it("is cut when it takes nothing for two heartbeats", async () => {
    const collector = await startTestCollector();
    const server = await startApi(collector, { coalesceMs: 1, heartbeatMs: 20 });
    const stuck = await EventStreamClient.open(server.url());
    await stuck.until(() => stuck.events.length === 1);
    stuck.pause();
    const children = crowd(3_000);
    await storeInParts(collector, children.map(created));
    for (let sequence = 2; sequence < 9; sequence += 1) {
      await storeInParts(
        collector,
        children.map((childId) => activity(childId, sequence)),
      );
    }
    // Who reads on counts the heartbeats, and is not cut.
    const reading = await EventStreamClient.open(server.url());
    const position = collector.reader.lastInputId();
    await reading.until(() => reading.lastId === position);
    const heartbeats = (): number => reading.text.split(": alive").length - 1;
    const before = heartbeats();
    await reading.until(() => heartbeats() > before + 3);
    stuck.resume();
    await stuck.until(() => stuck.closed);
    expect(reading.closed).toBe(false);
  });
});
