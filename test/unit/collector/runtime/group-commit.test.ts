import { DatabaseSync } from "node:sqlite";
import type { ProjectionUpdate } from "@agent-lifecycle/collector";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import {
  candidatesOf,
  type EmbeddedCollector,
  metric,
  offer,
  RECEIVER,
  startEmbedded,
  store,
} from "./embedded-collector.ts";

const created = (childId: string) => makeEvent({ childId, sequence: 0, state: "created" });
const starting = (childId: string) => makeEvent({ childId, sequence: 1, state: "starting", at: 1 });

/** Every publication from now on. */
function publicationsOf({ collector }: EmbeddedCollector): (readonly ProjectionUpdate[])[] {
  const publications: (readonly ProjectionUpdate[])[] = [];
  collector.updates.subscribe((updates) => void publications.push(updates));
  return publications;
}

/** What another process would find in the database now. */
function storedByOthersEyes(database: string): () => number {
  const reader = new DatabaseSync(database, { readOnly: true });
  onTestFinished(() => reader.close());
  const count = reader.prepare("SELECT count(*) AS inputs FROM inputs WHERE type = 0");
  return () => Number(count.get()?.["inputs"]);
}

describe("requests of one turn", () => {
  test("share one commit, whose updates are published once, in the order of arrival", async () => {
    const embedded = await startEmbedded();
    const commitsBefore = await metric(embedded, "agent_lifecycle_commit_duration_seconds_count");
    const publications = publicationsOf(embedded);
    const childIds = Array.from({ length: 50 }, (_, index) => `child-${index}`);
    await Promise.all(childIds.map((childId) => offer(embedded, [created(childId), starting(childId)])));
    expect(await metric(embedded, "agent_lifecycle_commit_duration_seconds_count")).toBe(commitsBefore + 1);
    expect(publications).toHaveLength(1);
    const updates = publications.flat();
    const first = updates[0]?.inputId ?? 0;
    expect(updates.map(({ inputId }) => inputId)).toEqual(Array.from({ length: 100 }, (_, index) => first + index));
    expect(updates.map(({ changes }) => changes[0]?.after.childId)).toEqual(
      childIds.flatMap((childId) => [childId, childId]),
    );
  });

  test("are answered only when everybody can read them", async () => {
    const embedded = await startEmbedded();
    const stored = storedByOthersEyes(embedded.database);
    const answers = ["a", "b", "c"].map((childId) =>
      offer(embedded, [created(childId)]).then(({ kind }) => ({ kind, stored: stored() })),
    );
    expect(stored()).toBe(0);
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 3 }, () => ({ kind: "stored", stored: 3 })));
  });

  test("go through the database's begin, appends and commit before anything is published", async () => {
    const embedded = await startEmbedded();
    const { calls } = embedded.faults;
    calls.length = 0;
    embedded.collector.updates.subscribe(() => void calls.push("published"));
    const answer = offer(embedded, [created("a")]).then(() => void calls.push("answered"));
    await Promise.all([answer, offer(embedded, [created("b")])]);
    expect(calls.filter((call) => call !== "answerIdentity")).toEqual([
      "begin",
      "append",
      "append",
      "commit",
      "published",
      "answered",
    ]);
  });

  test("are split where a commit would become too large; one that is too large by itself goes alone", async () => {
    const embedded = await startEmbedded();
    const publications = publicationsOf(embedded);
    const heartbeats = (childId: string, count: number) =>
      Array.from({ length: count }, (_, sequence) => makeEvent({ childId, sequence, at: sequence }));
    await Promise.all([
      offer(embedded, heartbeats("a", 4_000)),
      offer(embedded, heartbeats("b", 4_000)),
      offer(embedded, heartbeats("c", 4_000)),
      offer(embedded, heartbeats("d", 9_000)),
    ]);
    expect(publications.map((updates) => updates.length)).toEqual([8_000, 4_000, 9_000]);
    const inputIds = publications.flat().map(({ inputId }) => inputId);
    expect(inputIds).toEqual(inputIds.map((_, index) => (inputIds[0] ?? 0) + index));
  });
});

describe("the answer to a request", () => {
  test("has one outcome for each candidate, in order, whatever became of it", async () => {
    const embedded = await startEmbedded();
    const origin = { receiver: RECEIVER, backfill: false, bytes: 0 };
    const candidates = [
      ...candidatesOf([created("a"), starting("a"), starting("a")]),
      "no event",
      { schemaVersion: 1, source: "runner", childId: "a" },
      ...candidatesOf([
        makeEvent({ childId: "a", sequence: 1, state: "cancelled", at: 1 }),
        makeEvent({ childId: "a", sequence: 4, state: "running", at: 4 }),
        makeEvent({ childId: "a", sequence: 3, state: "starting", at: 3 }),
        makeEvent({ childId: "a", sequence: 5, state: "created", at: 5 }),
        makeEvent({ childId: "a", sequence: 6, state: "completed", at: 6 }),
        makeEvent({ childId: "a", sequence: 7, at: 7 }),
      ]),
    ];
    const answer = await embedded.collector.intake.acceptEvents(candidates, origin);
    if (answer.kind !== "stored") expect.fail(answer.kind);
    expect(answer.outcomes.map(({ status, diagnostics }) => [status, ...diagnostics.map(({ code }) => code)])).toEqual([
      ["applied"],
      ["applied"],
      ["deduplicated"],
      ["rejected", "invalid_event"],
      ["rejected", "invalid_event"],
      ["conflict", "identity_conflict"],
      ["provisional", "sequence_gap"],
      ["out_of_order", "out_of_order"],
      ["rejected", "illegal_transition"],
      ["applied"],
      ["terminal_immutable", "terminal_immutable"],
    ]);
  });

  test("of nothing is nothing", async () => {
    const embedded = await startEmbedded();
    expect(await offer(embedded, [])).toEqual({ kind: "stored", outcomes: [] });
  });

  test("to a snapshot says what it corrected and whom it missed too often (A5, A6)", async () => {
    const embedded = await startEmbedded();
    const origin = { receiver: RECEIVER, backfill: false, bytes: 0 };
    await store(embedded, created("a"), created("b"));
    const snapshot = (at: number) => makeSnapshot({ at, children: [{ childId: "a", state: "running" }] });
    expect(await embedded.collector.intake.acceptSnapshot(snapshot(1_000), origin)).toMatchObject({
      kind: "stored",
      status: "applied",
      corrected: 1,
      stale: [],
    });
    expect(await embedded.collector.intake.acceptSnapshot(snapshot(2_000), origin)).toMatchObject({
      corrected: 0,
      stale: ["b"],
    });
    expect(await embedded.collector.intake.acceptSnapshot({ source: "runner" }, origin)).toMatchObject({
      kind: "stored",
      status: "rejected",
    });
  });
});

describe("a listener of updates", () => {
  test("that throws is reported and keeps nothing from the others", async () => {
    const embedded = await startEmbedded();
    const heard: number[] = [];
    embedded.collector.updates.subscribe(() => {
      throw new Error("a listener's own fault");
    });
    embedded.collector.updates.subscribe((updates) => void heard.push(updates.length));
    expect(await store(embedded, created("a"))).toEqual(["applied"]);
    expect(heard).toEqual([1]);
    expect(embedded.takeLoggedFaults()).toEqual([expect.stringContaining("a listener's own fault")]);
  });

  test("hears nothing after it has left", async () => {
    const embedded = await startEmbedded();
    const heard: number[] = [];
    const leave = embedded.collector.updates.subscribe((updates) => void heard.push(updates.length));
    await store(embedded, created("a"));
    leave();
    await store(embedded, starting("a"));
    expect(heard).toEqual([1]);
  });
});
