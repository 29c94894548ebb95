import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { LifecycleEvent, SummaryView } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { eventsOf } from "../kit/event-run.ts";
import { makeEvent, makeSnapshot } from "../kit/events.ts";
import { runCommand } from "../kit/program.ts";
import { submit } from "../kit/submit.ts";

function temporaryDatabase(): string {
  return join(temporaryDirectory(), "collector.db");
}

function legalPath(childId: string): readonly LifecycleEvent[] {
  return eventsOf(childId, 3);
}

/** A history that leaves a mark in every part of the projection: gaps, conflicts, late claims, corrections, objections. */
async function tellHistory(collector: CollectorProcess): Promise<void> {
  const { ingestUrl } = collector;
  await submit(ingestUrl, legalPath("healthy"));
  await submit(ingestUrl, [
    ...legalPath("ended"),
    makeEvent({ childId: "ended", sequence: 3, state: "completed", at: 9 }),
  ]);
  await submit(ingestUrl, [makeEvent({ childId: "ended", sequence: 4, state: "running", at: 10 })], "json");
  await submit(ingestUrl, [...legalPath("gapped"), makeEvent({ childId: "gapped", sequence: 9, at: 9 })], "lines");
  await submit(ingestUrl, [...legalPath("conflicting"), makeEvent({ childId: "conflicting", sequence: 2, at: 7 })]);
  await submit(ingestUrl, [makeEvent({ childId: "stateless", sequence: 5 })]);
  await submit(ingestUrl, [makeEvent({ childId: "adopted", state: "waiting", lineage: { external: true } })]);
  await submit(ingestUrl, [
    makeEvent({ childId: "retry", sequence: 0, state: "created", lineage: { rootChildId: "ended", attempt: 1 } }),
  ]);
  await post(
    ingestUrl,
    "/v1/lifecycle/snapshots",
    makeSnapshot({ at: 20, children: [{ childId: "healthy", state: "waiting" }, { childId: "found" }] }),
  );
  await post(ingestUrl, "/v1/lifecycle/events", { schemaVersion: 1, source: "runner", childId: "broken" });
}

async function post(baseUrl: string, path: string, body: object): Promise<string> {
  const response = await fetch(new URL(path, baseUrl), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return response.text();
}

const CHILDREN = ["healthy", "ended", "gapped", "conflicting", "stateless", "adopted", "retry", "found"];

/** Everything the API says, as text; without the position and the clock, which a restart may move. */
async function everyAnswer(collector: CollectorProcess): Promise<ReadonlyMap<string, string>> {
  const ofChildren = CHILDREN.flatMap((childId) =>
    ["", "/events", "/audit"].map((part) => `/api/v1/children/runner/${childId}${part}`),
  );
  const paths = ["/api/v1/summary", "/api/v1/children", "/api/v1/sources", "/api/v1/audit", "/api/v1/diagnostics"];
  const answers = new Map<string, string>();
  for (const path of [...paths, ...ofChildren]) {
    const response = await fetch(new URL(path, collector.apiUrl));
    expect(response.status, path).toBe(200);
    const answer = await response.text();
    const isDated = path === "/api/v1/summary" || path === "/api/v1/children";
    answers.set(path, isDated ? answer.replace(/"position":\d+/, "").replace(/"at":"[^"]+"/, "") : answer);
  }
  return answers;
}

describe("a collector that starts on an existing database", () => {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    test(`says the same of everything as the one that ended by ${signal}`, async () => {
      const database = temporaryDatabase();
      const first = await startCollector(database);
      await tellHistory(first);
      const before = await everyAnswer(first);
      await first.endBy(signal);
      const second = await startCollector(database);
      expect(await everyAnswer(second)).toEqual(before);
      const summary = await second.get<SummaryView>("/api/v1/summary");
      expect(summary).toMatchObject({ started: 7, live: 6, stateUnknown: 1, evidenceSeen: true });
    });
  }

  test("takes up where the streams stand: nothing is asked for again, nothing is taken twice", async () => {
    const database = temporaryDatabase();
    const first = await startCollector(database);
    await submit(first.ingestUrl, legalPath("child-1"));
    await first.endBy("SIGTERM");
    const second = await startCollector(database);
    const again = makeEvent({ childId: "child-1", sequence: 2, state: "running", at: 2 });
    await submit(second.ingestUrl, [again, makeEvent({ childId: "child-1", sequence: 3, state: "completed", at: 3 })]);
    const history = await historyOf(second, "runner", "child-1");
    expect(history.map(({ event, status }) => [event?.state, status])).toEqual([
      ["created", "applied"],
      ["starting", "applied"],
      ["running", "applied"],
      ["completed", "applied"],
    ]);
  });
});

describe("a collector that is told to end", () => {
  test("finishes the request that is under way, and the answer is kept", async () => {
    const database = temporaryDatabase();
    const collector = await startCollector(database);
    const [first, ...others] = legalPath("child-1").map((event) => `${JSON.stringify(event)}\n`);
    const upload = request(new URL("/v1/lifecycle/events", collector.ingestUrl), {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
    });
    const answer = new Promise<string>((resolve, reject) => {
      upload.on("response", (response) => resolve(text(response)));
      upload.on("error", reject);
    });
    upload.write(first);
    await untilStored(collector, "child-1");
    collector.program.process.kill("SIGTERM");
    await untilClosed(collector.ingestUrl);
    upload.end(others.join(""));
    expect(JSON.parse(await answer)).toMatchObject({ accepted: 3, rejected: 0 });
    expect(await collector.program.end).toMatchObject({ exitCode: 0, signal: null });
    const next = await startCollector(database);
    expect(await historyOf(next, "runner", "child-1")).toHaveLength(3);
  });

  test("does not wait for a display that keeps its stream open", async () => {
    const collector = await startCollector(temporaryDatabase());
    const stream = await fetch(new URL("/api/v1/stream", collector.apiUrl));
    expect(await collector.endBy("SIGTERM")).toMatchObject({ exitCode: 0, signal: null });
    expect(await stream.text()).toContain("event: summary");
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`exits with 0 on ${signal} and leaves a database that needs no recovery`, async () => {
      const database = temporaryDatabase();
      const collector = await startCollector(database);
      await submit(collector.ingestUrl, legalPath("child-1"));
      const { exitCode, stdout } = await collector.endBy(signal);
      expect(exitCode).toBe(0);
      expect(stdout.toString().split("\n")).toHaveLength(2);
      const verified = await runCommand(["verify", "--database", database]);
      expect(verified.stdout.toString()).toMatch(
        /^verified: \d+ inputs replay to the stored projection of 1 children\n$/,
      );
    });
  }
});

/** Asks until the child is known: each question is a round trip to the collector, nothing is waited for blindly. */
async function untilStored(collector: CollectorProcess, childId: string): Promise<void> {
  for (;;) {
    const response = await fetch(new URL(`/api/v1/children/runner/${childId}`, collector.apiUrl));
    await response.arrayBuffer();
    if (response.status === 200) return;
  }
}

/** Connects until new connections are refused. */
async function untilClosed(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  for (;;) {
    const socket = connect(Number(port), hostname);
    try {
      await once(socket, "connect");
    } catch {
      return;
    } finally {
      socket.destroy();
    }
  }
}
