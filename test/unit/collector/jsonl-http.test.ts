import { once } from "node:events";
import { request } from "node:http";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { canonicalEvent, type LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, it } from "vitest";
import { makeEvent, makeSnapshot } from "../../kit/events.ts";
import { startIngest } from "./ingest-fixture.ts";
import { rawRequest } from "./raw-http.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

interface Tally {
  readonly diagnostics: readonly { readonly line: number; readonly code: string }[];
}

const NDJSON = { "content-type": "application/x-ndjson" };

function events(count: number): readonly LifecycleEvent[] {
  return Array.from({ length: count }, (_, index) => makeEvent({ kind: "heartbeat", sequence: index, at: index }));
}

const lines = (some: readonly LifecycleEvent[]): string => some.map((event) => `${canonicalEvent(event)}\n`).join("");

async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  query = "",
) {
  return fetch(`${url}/v1/lifecycle/events${query}`, { method: "POST", headers: { ...NDJSON, ...headers }, body });
}

describe("POST /v1/lifecycle/events", () => {
  it.each([
    ["identity", (text: string) => Buffer.from(text)],
    ["gzip", (text: string) => gzipSync(text)],
  ])("stores every line, in order, in batches of at most 1,000 (%s)", async (coding, encode) => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const body = Uint8Array.from(encode(lines(events(4_500))));
    const response = await post(server.url(), body, { "content-encoding": coding });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ accepted: 4_500, deduplicated: 0, rejected: 0, diagnostics: [] });
    expect(intake.candidates).toMatchObject(events(4_500).map(({ sequence }) => ({ sequence })));
    expect(Math.max(...intake.received.map(({ candidates }) => candidates.length))).toBeLessThanOrEqual(1_000);
    expect(intake.received.every(({ origin }) => origin.receiver === "jsonl_http" && !origin.backfill)).toBe(true);
    expect(intake.received.reduce((sum, { origin }) => sum + origin.bytes, 0)).toBeGreaterThanOrEqual(
      lines(events(4_500)).length,
    );
  });

  it.each([
    ["?backfill=true", true],
    ["?backfill=false", false],
    ["", false],
  ])("marks old evidence when the sender says so: %j", async (query, backfill) => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    await post(server.url(), lines(events(1)), {}, query);
    expect(intake.received[0]?.origin.backfill).toBe(backfill);
  });

  it.each(["?backfill=perhaps", "?backfil=true"])("refuses a query it does not understand: %j", async (query) => {
    const server = await startIngest(new ScriptedIntake());
    const response = await post(server.url(), lines(events(1)), {}, query);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  });

  it("loses nothing valid around broken lines, and says of each where and what", async () => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const [first, second, third] = events(3).map(canonicalEvent);
    const body = `${first}\nno json token=hunter2\n\n{"schemaVersion":1}\r\n${second}\r\n[1]\n${third}\n{"cut":`;
    const response = await post(server.url(), body);
    const tally = (await response.json()) as Tally;
    expect(tally).toMatchObject({ accepted: 3, deduplicated: 0, rejected: 4 });
    expect(tally.diagnostics.map(({ line, code }) => `${line} ${code}`).toSorted()).toEqual([
      "2 malformed",
      "4 invalid_event",
      "6 malformed",
      "8 truncated",
    ]);
    expect(JSON.stringify(tally) + JSON.stringify(intake.problems)).not.toContain("hunter2");
    expect(intake.problems.map(({ code }) => code)).toEqual(["malformed", "malformed", "truncated"]);
  });

  it("describes 32 broken lines and counts the rest", async () => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const response = await post(server.url(), `${"x\n".repeat(100)}${lines(events(1))}`);
    const tally = (await response.json()) as Tally;
    expect(tally).toMatchObject({ accepted: 1, rejected: 100 });
    expect(tally.diagnostics).toHaveLength(32);
    expect(intake.problems.at(-1)?.text).toBe("68 further broken lines");
    expect(intake.problems).toHaveLength(33);
  });

  it("skips a line of 300 MB without holding it, and takes the lines around it", async () => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const [before, after] = events(2).map(canonicalEvent);
    const filler = Buffer.alloc(1024 * 1024, "a");
    const body = Readable.from(
      (function* () {
        yield Buffer.from(`${before}\n`);
        for (let sent = 0; sent < 300; sent += 1) yield filler;
        yield Buffer.from(`\n${after}\n`);
      })(),
    );
    const rssBefore = process.memoryUsage.rss();
    const answer = await rawRequest(`${server.url()}/v1/lifecycle/events`, { method: "POST", headers: NDJSON, body });
    expect(JSON.parse(answer.body)).toMatchObject({
      accepted: 2,
      rejected: 1,
      diagnostics: [{ line: 2, code: "oversize" }],
    });
    expect(process.memoryUsage.rss() - rssBefore).toBeLessThan(150 * 1024 * 1024);
  });

  it("passes on what a slow sender has sent before it sends more", async () => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const accepted = new Promise<void>((resolve) => {
      const accept = intake.acceptEvents.bind(intake);
      intake.acceptEvents = async (candidates, origin) => {
        const result = await accept(candidates, origin);
        resolve();
        return result;
      };
    });
    const outgoing = request(`${server.url()}/v1/lifecycle/events`, { method: "POST", headers: NDJSON });
    outgoing.write(lines(events(1)));
    await accepted;
    expect(intake.candidates).toHaveLength(1);
    outgoing.end(lines(events(2).slice(1)));
    const [response] = await once(outgoing, "response");
    expect(await json(response)).toMatchObject({ accepted: 2 });
  });

  it.each([
    [{ kind: "overloaded", retryAfterSeconds: 1 } as const, 503, "1"],
    [{ kind: "unavailable", retryable: true, reason: "" } as const, 503, "1"],
    [{ kind: "unavailable", retryable: false, reason: "" } as const, 500, null],
  ])("says how much was stored when it is refused midway: %j", async (refusal, statusCode, retryAfter) => {
    const intake = new ScriptedIntake();
    intake.refusals.push(undefined, refusal);
    const server = await startIngest(intake);
    const response = await post(server.url(), lines(events(2_500)));
    expect(response.status).toBe(statusCode);
    expect(response.headers.get("retry-after")).toBe(retryAfter);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ accepted: intake.candidates.length, deduplicated: 0, rejected: 0 });
    expect(intake.received).toHaveLength(1);
  });

  it("keeps what came before a body that breaks, and says so", async () => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const whole = gzipSync(lines(events(3_000)));
    const response = await post(server.url(), Uint8Array.from(whole.subarray(0, whole.length - 20)), {
      "content-encoding": "gzip",
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ accepted: intake.candidates.length });
    expect(intake.candidates.length).toBeGreaterThan(0);
  });

  it("refuses a body beyond its own limit with the tally of what it stored", async () => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake, { maxStreamedBytes: 100_000 });
    const body = Readable.from([lines(events(100)), lines(events(3_000))]);
    const answer = await rawRequest(`${server.url()}/v1/lifecycle/events`, { method: "POST", headers: NDJSON, body });
    expect(answer.statusCode).toBe(413);
    expect(JSON.parse(answer.body)).toMatchObject({ accepted: intake.candidates.length });
  });

  it.each([
    ["GET", {}, 405],
    ["POST", { "content-type": "text/csv" }, 415],
    ["POST", { "content-encoding": "br" }, 415],
  ])("answers %s with %j by a problem document (%d)", async (method, headers, statusCode) => {
    const server = await startIngest(new ScriptedIntake());
    const response = await fetch(`${server.url()}/v1/lifecycle/events`, { method, headers: { ...NDJSON, ...headers } });
    expect(response.status).toBe(statusCode);
    expect(await response.json()).toMatchObject({
      status: statusCode,
      title: expect.any(String),
      detail: expect.any(String),
    });
  });
});

describe("POST /v1/lifecycle/snapshots", () => {
  const send = (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/v1/lifecycle/snapshots`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });

  it("hands over a snapshot and answers what it did", async () => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake);
    const response = await send(server.url(), JSON.stringify(makeSnapshot({ children: [{ childId: "a" }] })));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "applied", corrected: 0, stale: [], diagnostics: [] });
    expect(intake.received[0]?.origin.receiver).toBe("snapshot_http");
  });

  it("refuses one that breaks the contract, and names the member (A1)", async () => {
    const server = await startIngest(new ScriptedIntake());
    const snapshot = { ...makeSnapshot({ children: [{ childId: "a" }] }), coverage: ["b"] };
    const response = await send(server.url(), JSON.stringify(snapshot));
    expect(response.status).toBe(422);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({
      diagnostics: [{ code: "invalid_snapshot", path: "children.0.childId" }],
    });
  });

  it("asks for a retry when nothing can be stored", async () => {
    const intake = new ScriptedIntake();
    intake.refusals.push({ kind: "overloaded", retryAfterSeconds: 1 });
    const server = await startIngest(intake);
    const response = await send(server.url(), JSON.stringify(makeSnapshot({})));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
  });

  it.each([
    ["{", {}, 400],
    ["{}", { "content-type": "text/plain" }, 415],
    [`${'{"a":'.repeat(300)}1${"}".repeat(300)}`, {}, 400],
  ])("answers a body it cannot read (%#)", async (body, headers, statusCode) => {
    const server = await startIngest(new ScriptedIntake());
    expect((await send(server.url(), body, headers)).status).toBe(statusCode);
  });
});
