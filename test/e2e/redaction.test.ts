import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ChildrenPage,
  type DiagnosticsPage,
  type LifecycleEvent,
  normalizeEvent,
  type SummaryView,
} from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { ENCODINGS, type Encoding, ingestRequest } from "../kit/submit.ts";

interface Sample {
  readonly in: { readonly text?: string; readonly details?: Readonly<Record<string, unknown>> };
  readonly mustNotContain?: readonly string[];
}

const { secret: samples } = JSON.parse(
  readFileSync(new URL("../contract/redaction/corpus.json", import.meta.url), "utf8"),
) as { readonly secret: readonly Sample[] };

/** An event as a careless producer would send it: not redacted, possibly not even valid. */
type RawEvent = Readonly<Record<string, unknown>>;

const INGEST_TOKEN = "ingest-0-please-do-not-log-me";

const HARMLESS_ACTIVITY = "reads chapter seventeen";

function rawEvent(childId: string, members: RawEvent): RawEvent {
  return {
    schemaVersion: 1,
    eventId: `${childId}/event`,
    source: "careless",
    sourceEpoch: "epoch-1",
    childId,
    lineage: { rootChildId: childId, attempt: 0, external: true, adoptedAt: "2026-09-01T09:00:00Z" },
    kind: "state_changed",
    state: "waiting",
    observedAt: "2026-09-01T09:00:00Z",
    activity: HARMLESS_ACTIVITY,
    capabilities: {},
    ...members,
  };
}

/** The sample in every place that takes text. */
function eventsWith({ in: { text, details } }: Sample, childId: string): readonly RawEvent[] {
  if (text === undefined)
    return [rawEvent(childId, { details }), rawEvent(`${childId}/nested`, { details: { inner: [details] } })];
  return [
    rawEvent(`${childId}/activity`, { activity: text }),
    rawEvent(`${childId}/details`, {
      details: { note: text, list: [`before\n${text}\nafter`], inner: { name: text } },
    }),
    rawEvent(`${childId}/reserved`, {
      details: { name: text, tool: text, waitingOn: { kind: "user", text }, transcriptRef: text },
    }),
    rawEvent(`${childId}/event-id`, { eventId: text }),
    rawEvent(`${childId}/lineage`, {
      lineage: { rootChildId: text, parentChildId: text, attempt: 0, external: false },
    }),
    rawEvent(text, { source: text, sourceEpoch: text }),
    // What breaks the contract is refused, and what is said of it is redacted too.
    rawEvent(`${childId}/state`, { state: text, kind: text, observedAt: text }),
    { ...rawEvent(`${childId}/members`, {}), [text]: text, capabilities: { heartbeat: text } },
  ];
}

/**
 * Strings that no output may hold: what the corpus forbids, but for those that the harmless rest of another sample holds
 * as well. What that rest is, the corpus test says, of activity and details; all other places must do as well as those.
 */
function forbiddenStrings(): readonly string[] {
  const redacted = samples.map(({ in: { text, details } }) => {
    const normalized = normalizeEvent(rawEvent("child", { activity: text, details }));
    if (!normalized.ok) throw new Error(JSON.stringify(normalized.diagnostic));
    return `${normalized.event.activity}\n${JSON.stringify(normalized.event.details)}`;
  });
  const rest = redacted.join("\n");
  const stated = new Set(samples.flatMap(({ mustNotContain = [] }) => mustNotContain));
  return [...stated].filter((text) => !rest.includes(text));
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

async function send(collector: CollectorProcess, events: readonly RawEvent[], encoding: Encoding): Promise<string> {
  const { path, contentType, body } = ingestRequest(events as unknown as readonly LifecycleEvent[], encoding);
  const response = await fetch(new URL(path, collector.ingestUrl), {
    method: "POST",
    headers: { "content-type": contentType, authorization: `Bearer ${INGEST_TOKEN}` },
    body: body as NonNullable<RequestInit["body"]>,
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer()).toString("latin1");
}

/** Lines that are no JSON, and requests that are none: they come back in diagnostics and error texts. */
async function sendBroken(collector: CollectorProcess): Promise<string> {
  const answers: string[] = [];
  const texts = samples.flatMap(({ in: { text, details } }) => text ?? JSON.stringify(details));
  const post = async (path: string, contentType: string, body: string): Promise<void> => {
    const response = await fetch(new URL(path, collector.ingestUrl), {
      method: "POST",
      headers: { "content-type": contentType, authorization: `Bearer ${INGEST_TOKEN}` },
      body,
    });
    answers.push(await response.text());
  };
  await post(
    "/v1/lifecycle/events",
    "application/x-ndjson",
    texts.map((text) => `{"note": ${escaped(text)}\n`).join(""),
  );
  for (const text of texts.slice(0, 40)) {
    await post("/v1/logs", "application/json", `{"resourceLogs": "${escaped(text)}"`);
    await post(
      "/v1/lifecycle/snapshots",
      "application/json",
      JSON.stringify({ source: "careless", snapshotId: text, observedAt: text }),
    );
    const children = [{ childId: text, state: "running", activity: text, details: { note: text } }];
    const snapshot = {
      source: "careless",
      sourceEpoch: text,
      snapshotId: text,
      complete: true,
      coverage: "all",
      children,
    };
    await post(
      "/v1/lifecycle/snapshots",
      "application/json",
      JSON.stringify({ ...snapshot, observedAt: "2026-09-01T09:00:00Z" }),
    );
  }
  return answers.join("\n");
}

/** Everything that the API and the metrics say. */
async function everyAnswer(collector: CollectorProcess): Promise<string> {
  const answers: string[] = [];
  const read = async (path: string): Promise<string> => {
    const text = await (await fetch(new URL(path, collector.apiUrl))).text();
    answers.push(text);
    return text;
  };
  for (const path of ["/metrics", "/api/v1/summary", "/api/v1/sources", "/api/v1/audit?limit=1000"]) await read(path);
  for (let cursor: string | null = "999999999"; cursor !== null; ) {
    const page = JSON.parse(await read(`/api/v1/diagnostics?limit=1000&cursor=${cursor}`)) as DiagnosticsPage;
    cursor = page.nextCursor;
  }
  for (let cursor: string | null = "999999999"; cursor !== null; ) {
    const page = JSON.parse(await read(`/api/v1/children?limit=1000&cursor=${cursor}`)) as ChildrenPage;
    for (const { source, childId } of page.children) {
      await read(`/api/v1/children/${encodeURIComponent(source)}/${encodeURIComponent(childId)}/events`);
    }
    cursor = page.nextCursor;
  }
  return answers.join("\n");
}

function databaseFiles(database: string): string {
  const files = ["", "-wal", "-shm", ".lock"].map((suffix) => `${database}${suffix}`).filter(existsSync);
  return files.map((path) => readFileSync(path, "latin1")).join("\n");
}

function leaksIn(output: string, forbidden: readonly string[]): readonly string[] {
  return forbidden.filter((text) => output.includes(text) || output.includes(escaped(text)));
}

describe("a secret that a careless producer sends is nowhere afterwards (N3)", () => {
  test("not in the database, the answers, the metrics or the log, by whatever way it came", {
    timeout: 60_000,
  }, async () => {
    const database = join(temporaryDirectory(), "collector.db");
    const collector = await startCollector(database, ["--ingest-token", INGEST_TOKEN]);
    const sent: RawEvent[] = [];
    const told: string[] = [];
    for (const encoding of ENCODINGS) {
      const events = samples.flatMap((sample, index) => eventsWith(sample, `${encoding}-${index}`));
      told.push(await send(collector, events, encoding));
      sent.push(...events);
    }
    told.push(await sendBroken(collector));
    const forbidden = [...forbiddenStrings(), INGEST_TOKEN];
    expect(forbidden.length).toBeGreaterThan(100);
    expect(leaksIn(JSON.stringify([sent, INGEST_TOKEN]), forbidden)).toEqual(forbidden);

    const answers = await everyAnswer(collector);
    const whileRunning = databaseFiles(database);
    const { started } = await collector.get<SummaryView>("/api/v1/summary");
    const { exitCode, stdout, stderr } = await collector.endBy("SIGTERM");
    expect(exitCode).toBe(0);
    const afterwards = databaseFiles(database);

    // The looking works: what is no secret is found in all of them.
    expect(started).toBeGreaterThan(samples.length * ENCODINGS.length);
    for (const output of [answers, whileRunning, afterwards]) {
      expect(output.includes(HARMLESS_ACTIVITY)).toBe(true);
      expect(output.includes("[redacted]")).toBe(true);
    }
    expect(leaksIn(told.join("\n"), forbidden), "answers to the sender").toEqual([]);
    expect(leaksIn(answers, forbidden), "API and metrics").toEqual([]);
    expect(leaksIn(whileRunning, forbidden), "database while running").toEqual([]);
    expect(leaksIn(afterwards, forbidden), "database afterwards").toEqual([]);
    expect(leaksIn(`${stdout.toString()}\n${stderr.toString()}`, forbidden), "log").toEqual([]);
  });
});
