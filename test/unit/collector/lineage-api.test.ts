import type { TimelinePage, TreeView } from "@agent-lifecycle/collector/client";
import { knownAt } from "@agent-lifecycle/collector/client";
import { formatTimestamp, type State } from "@agent-lifecycle/proto";
import { describe, expect, it } from "vitest";
import { type EventMembers, makeEvent, makeSnapshot } from "../../kit/events.ts";
import { START_MS } from "../../kit/start-time.ts";
import { getJson, startTestCollector, store } from "./collector-fixture.ts";

const origin = { receiver: "test", backfill: false, bytes: 0 };

function told(childId: string, states: readonly State[], members: EventMembers = {}) {
  return states.map((state, index) => makeEvent({ childId, state, sequence: index, at: index, ...members }));
}

const below = (parentChildId: string, attempt = 0) => ({ lineage: { rootChildId: "root", parentChildId, attempt } });

describe("a tree", () => {
  it("groups attempts under one agent and keeps the first one failed (L06)", async () => {
    const collector = await startTestCollector();
    await store(collector, [
      ...told("root", ["created", "starting", "running"]),
      ...told("try-1", ["created", "starting", "failed"], below("root", 0)),
      ...told("try-2", ["created", "starting", "running"], below("root", 1)),
    ]);
    const tree = await getJson<TreeView>(`${collector.apiUrl}/api/v1/tree/root`);
    expect(
      tree.agents.map(({ depth, attempts }) => [depth, attempts.map(({ childId, state }) => [childId, state])]),
    ).toEqual([
      [0, [["root", "running"]]],
      [
        1,
        [
          ["try-1", "failed"],
          ["try-2", "running"],
        ],
      ],
    ]);
    expect(tree).toMatchObject({ members: 3, live: 2, isCut: false, byState: { running: 2, failed: 1 } });
  });

  it("does not guess which of several siblings was tried again", async () => {
    const collector = await startTestCollector();
    await store(collector, [
      ...told("root", ["created"]),
      ...told("one", ["created", "failed"], below("root", 0)),
      ...told("two", ["created", "failed"], below("root", 0)),
      ...told("again", ["created"], below("root", 1)),
    ]);
    const { agents } = await getJson<TreeView>(`${collector.apiUrl}/api/v1/tree/root`);
    expect(agents.map(({ attempts }) => attempts.length)).toEqual([1, 1, 1, 1]);
  });

  it("stays live below a parent that ended, and says how many live there (L13, L32c)", async () => {
    const collector = await startTestCollector();
    await store(collector, [
      ...told("root", ["created", "starting", "running", "completed"]),
      ...told("middle", ["created", "starting", "running", "completed"], below("root")),
      ...told("shell", ["created", "starting", "running"], below("middle")),
    ]);
    const tree = await getJson<TreeView>(`${collector.apiUrl}/api/v1/tree/root`);
    expect(tree.live).toBe(1);
    expect(
      tree.agents.map(({ attempts, liveDescendants }) => [attempts[0]?.childId, attempts[0]?.state, liveDescendants]),
    ).toEqual([
      ["root", "completed", 1],
      ["middle", "completed", 1],
      ["shell", "running", 0],
    ]);
  });

  it("adds up what was reported, and takes silence for no zero", async () => {
    const collector = await startTestCollector();
    const usage = (details: object) => ({ ...below("root"), details: { usage: details } });
    await store(collector, [
      ...told("root", ["created"]),
      ...told("one", ["created"], usage({ inputTokens: 100, costUsd: 0.5 })),
      ...told("two", ["created"], usage({ inputTokens: 20, toolCalls: 3 })),
      ...told("silent", ["created"], below("root")),
    ]);
    const { usage: sum } = await getJson<TreeView>(`${collector.apiUrl}/api/v1/tree/root`);
    expect(sum).toEqual({ inputTokens: 120, outputTokens: null, costUsd: 0.5, toolCalls: 3, reported: 2, members: 4 });
  });

  it("holds each child once where lineages form a circle, and is not there for a root of nobody", async () => {
    const collector = await startTestCollector();
    await store(collector, [
      ...told("a", ["created"], below("b")),
      ...told("b", ["created"], below("a")),
      ...told("c", ["created"], below("unheard")),
    ]);
    const { agents } = await getJson<TreeView>(`${collector.apiUrl}/api/v1/tree/root`);
    expect(agents.map(({ attempts, isParentMissing }) => [attempts[0]?.childId, isParentMissing])).toEqual([
      ["a", false],
      ["b", false],
      ["c", true],
    ]);
    expect((await fetch(`${collector.apiUrl}/api/v1/tree/nobody`)).status).toBe(404);
  });
});

describe("a timeline", () => {
  async function timelineOf(events: Parameters<typeof store>[1], snapshot?: Parameters<typeof makeSnapshot>[0]) {
    const collector = await startTestCollector();
    await store(collector, events);
    if (snapshot !== undefined) await collector.intake.acceptSnapshot(makeSnapshot(snapshot), origin);
    const { timeline } = await getJson<TimelinePage>(`${collector.apiUrl}/api/v1/timeline`);
    return timeline[0] ?? expect.fail("no entry");
  }
  const at = (milliseconds: number) => formatTimestamp(START_MS + milliseconds);

  it("has each state from its beginning to the next one's, and each activity", async () => {
    const entry = await timelineOf([
      ...told("a", ["created", "starting", "running"]),
      makeEvent({ childId: "a", kind: "activity", activity: "reading", sequence: 3, at: 5 }),
      makeEvent({ childId: "a", state: "completed", sequence: 4, at: 9 }),
    ]);
    expect(entry.intervals.map(({ state, from, to }) => [state, from, to])).toEqual([
      ["created", at(0), at(1)],
      ["starting", at(1), at(2)],
      ["running", at(2), at(9)],
      ["completed", at(9), null],
    ]);
    expect(entry.activities).toMatchObject([{ at: at(5), text: "reading" }]);
    expect(entry.marks).toEqual([]);
  });

  it("marks gaps and how they close, and what came after the end without letting it change a state (L04)", async () => {
    const entry = await timelineOf([
      makeEvent({ childId: "a", state: "created", sequence: 0 }),
      makeEvent({ childId: "a", state: "starting", sequence: 1, at: 1 }),
      makeEvent({ childId: "a", state: "waiting", sequence: 4, at: 4 }),
      makeEvent({ childId: "a", kind: "activity", activity: "late", sequence: 3, at: 3 }),
      makeEvent({ childId: "a", state: "completed", sequence: 5, at: 6 }),
      makeEvent({ childId: "a", state: "running", sequence: 6, at: 8 }),
    ]);
    expect(entry.intervals.map(({ state, isProvisional }) => [state, isProvisional])).toEqual([
      ["created", false],
      ["starting", false],
      ["waiting", true],
      ["completed", false],
    ]);
    expect(entry.marks.map(({ kind, text }) => [kind, text])).toEqual([
      ["gap", "sequence_gap"],
      ["gap_filled", "activity"],
      ["late", "running: terminal_immutable"],
    ]);
  });

  it("draws a correction by an authority as one, from when it was learned", async () => {
    const entry = await timelineOf(told("a", ["created"]), { at: 3, children: [{ childId: "a", state: "running" }] });
    expect(entry.intervals.at(-1)).toMatchObject({ state: "running", by: "authoritative_snapshot" });
    expect(entry.marks).toMatchObject([{ kind: "correction", text: "created → running" }]);
  });

  it("tells what was known at an earlier time, which is nothing before it was recorded", async () => {
    const entry = await timelineOf(told("a", ["created", "starting"]));
    // All was received at the start, whenever its source saw it.
    expect(knownAt(entry, START_MS - 1)).toBeUndefined();
    expect(knownAt(entry, START_MS)).toMatchObject({ state: "starting", isStale: false, activity: null });
  });
});
