import { RECORD_ATTRIBUTES, rootSpanIdOf, traceIdOf } from "@agent-lifecycle/collector/parts";
import { decodeLogsProtobuf, encodeStatusProtobuf } from "@agent-lifecycle/proto";
import { describe, expect, it, test } from "vitest";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { type HttpDestination, startHttpDestination } from "../../../kit/http-destination.ts";
import { type ReceivedRecord, recordsOf, resourceOf } from "../../../kit/otlp-json.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { otlpHttp, startExporting } from "./exporting-collector.ts";

/** A busy machine needs its time. */
const WAIT = { timeout: 10_000 };

const created = makeEvent({ state: "created", sequence: 1 });
const starting = makeEvent({ state: "starting", sequence: 2, at: 1_000 });
const running = makeEvent({ state: "running", sequence: 3, at: 3_000, details: { name: "reviewer" } });

/** Everything that was taken, in order. */
function taken({ requests }: HttpDestination): readonly ReceivedRecord[] {
  return requests.flatMap(recordsOf);
}

function kinds(destination: HttpDestination): readonly unknown[] {
  return taken(destination).map(({ attributes }) => attributes["agent_lifecycle.update"]);
}

describe("a projection record", () => {
  it("says what happened, from which state, and on what it rests", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    await collector.store(created, starting, running);
    await destination.until(() => taken(destination).length === 3);
    const record = taken(destination)[2];
    expect(record).toMatchObject({
      eventName: "agent_lifecycle.projection",
      body: "reviewer is running",
      severityNumber: 9,
      traceId: traceIdOf({ source: "runner", rootChildId: "child-1" }),
      spanId: rootSpanIdOf({ source: "runner", childId: "child-1" }),
    });
    expect(record?.attributes).toMatchObject({
      "agent_lifecycle.update": "state",
      "agent_lifecycle.state": "running",
      "agent_lifecycle.previous_state": "starting",
      "agent_lifecycle.previous_state_seconds": 2,
      "agent_lifecycle.evidence": "event",
      "agent_lifecycle.child_id": "child-1",
      "agent_lifecycle.status": "applied",
      event_name: "agent_lifecycle.projection",
    });
    // It is no lifecycle event: a collector that it comes to passes it over as foreign.
    expect(record?.attributes).not.toHaveProperty("agent_lifecycle.schema_version");
    expect(BigInt(record?.timeUnixNano ?? 0) / 1_000_000n).toBe(BigInt(START_MS));
  });

  it("has no attribute that the registry does not have, and none of more than 2,000 bytes", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    await collector.store(
      created,
      starting,
      makeEvent({ kind: "activity", sequence: 3, at: 5, activity: "\u{1F600}".repeat(1_000) }),
      makeEvent({ state: "created", sequence: 4, at: 6 }),
    );
    await destination.until(() => taken(destination).length === 4);
    const known = new Set(Object.values(RECORD_ATTRIBUTES).map(({ name }) => name as string));
    for (const { attributes } of taken(destination)) {
      for (const [name, value] of Object.entries(attributes)) {
        expect(known).toContain(name);
        expect(Buffer.byteLength(String(value))).toBeLessThanOrEqual(2_000);
        expect(String(value).isWellFormed()).toBe(true);
      }
    }
  });

  it("is there for staleness, losses, corrections, late claims and activities, and not for heartbeats and repetitions", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    const silent = makeEvent({ childId: "b", state: "created", sequence: 1, capabilities: { heartbeat: "known" } });
    await collector.store(silent, makeEvent({ childId: "b", kind: "heartbeat", sequence: 2, at: 10 }));
    collector.clock.pass(600_000);
    await collector.pace.next();
    collector.clock.pass(600_000);
    await collector.pace.next();
    await collector.store(
      created,
      created,
      makeEvent({ kind: "activity", sequence: 2, at: 20, activity: "reads" }),
      makeEvent({ childId: "b", state: "starting", sequence: 3, at: 30 }),
    );
    await collector.snapshot(makeSnapshot({ at: 40, children: [{ childId: "child-1", state: "running" }] }));
    await expect.poll(() => kinds(destination).length).toBe(7);
    expect(kinds(destination)).toEqual(["state", "stale", "loss", "state", "activity", "objection", "correction"]);
    const [, stale, loss, , , objection, correction] = taken(destination);
    expect(stale?.attributes).toMatchObject({ "agent_lifecycle.state": "created" });
    expect(loss).toMatchObject({ severityNumber: 18 });
    expect(loss?.attributes).toMatchObject({
      "agent_lifecycle.state": "lost",
      "agent_lifecycle.previous_state": "created",
      "agent_lifecycle.evidence": "failed_reconciliation",
    });
    expect(objection?.attributes).toMatchObject({
      "agent_lifecycle.claimed_state": "starting",
      "agent_lifecycle.diagnostic": "terminal_immutable",
    });
    expect(objection?.attributes).not.toHaveProperty("agent_lifecycle.state");
    expect(correction?.attributes).toMatchObject({
      "agent_lifecycle.state": "running",
      "agent_lifecycle.previous_state": "created",
      "agent_lifecycle.snapshot_id": "snapshot at 40",
    });
  });

  it("is the same again when it is sent again by a collector that starts anew", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    let isLost = true;
    destination.answer = () => (isLost ? { code: 503 } : { code: 200 });
    await collector.store(created, starting, makeEvent({ kind: "heartbeat", sequence: 3, at: 5 }));
    await collector.snapshot(makeSnapshot({ at: 2_000, children: [{ childId: "child-1", state: "waiting" }] }));
    await collector.store(makeEvent({ state: "running", sequence: 4, at: 9_000 }));
    await destination.until(() => destination.requests.length > 2);
    await collector.stop();
    const before = destination.requests.length;
    isLost = false;
    await collector.start();
    await destination.until(() => destination.requests.length > before && taken(destination).length > 4);
    const first = new Map(
      destination.requests
        .slice(0, before)
        .flatMap(recordsOf)
        .map((one) => [uidOf(one), one]),
    );
    const again = destination.requests.slice(before).flatMap(recordsOf);
    expect(again.length).toBeGreaterThanOrEqual(4);
    for (const record of again) if (first.has(uidOf(record))) expect(record).toEqual(first.get(uidOf(record)));
    expect(new Set(again.map(uidOf)).size).toBe(again.length);
  });

  it("knows the state that was left, though the collector began anew in between", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    await collector.store(created, starting);
    await destination.until(() => taken(destination).length === 2);
    await collector.stop();
    await collector.start();
    await collector.store(running);
    await destination.until(() => taken(destination).length === 3);
    expect(taken(destination)[2]?.attributes).toMatchObject({
      "agent_lifecycle.previous_state": "starting",
      "agent_lifecycle.previous_state_seconds": 2,
    });
  });
});

function uidOf({ attributes }: ReceivedRecord): unknown {
  return attributes["log.record.uid"];
}

describe("a request", () => {
  test.each([
    ["a base URL", (url: string) => ({ endpoint: `${url}/otlp/` }), "/otlp/v1/logs"],
    ["the URL of a signal", (url: string) => ({ logsEndpoint: `${url}/push?tenant=1` }), "/push?tenant=1"],
  ])("goes to %s", async (_, endpoints, path) => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: { signals: ["logs"], ...endpoints(destination.url) } });
    await collector.store(created);
    await destination.until(() => destination.requests.length === 1);
    expect(destination.requests[0]?.path).toBe(path);
  });

  it("has the exact content type, gzip, the configured headers and resource", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({
      "otlp_http/loki": {
        ...otlpHttp(destination.url, "logs"),
        headers: new Map([["X-Scope-OrgID", "tenant-1"]]),
        resourceAttributes: new Map([["deployment.environment.name", "test"]]),
      },
    });
    await collector.store(created);
    await destination.until(() => destination.requests.length === 1);
    const [request] = destination.requests;
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "content-encoding": "gzip",
      "x-scope-orgid": "tenant-1",
    });
    const resource = request && resourceOf(request, "Logs");
    expect(resource).toMatchObject({
      "service.name": "agent-lifecycle-collector",
      "deployment.environment.name": "test",
    });
  });

  it("in protobuf is what any OTLP decoder reads", async () => {
    const destination = await startHttpDestination();
    const settings = { ...otlpHttp(destination.url, "logs"), encoding: "proto", compression: "none" } as const;
    const collector = await startExporting({ otlp_http: settings });
    destination.answer = () => ({ code: 204 });
    await collector.store(created);
    await destination.until(() => destination.requests.length === 1);
    const [request] = destination.requests;
    expect(request?.headers).toMatchObject({ "content-type": "application/x-protobuf" });
    const decoded = decodeLogsProtobuf(new Uint8Array(request?.body ?? []));
    // To a collector of lifecycle events it is foreign.
    expect(decoded).toMatchObject({ ok: true, records: [{ foreign: true }] });
  });
});

describe("what a destination answers", () => {
  test.each([
    ["204 without a body, as Loki", { code: 204 }],
    ["200 with nothing, as Prometheus", { code: 200 }],
    ["200 with a text that is none of OTLP's", { code: 200, headers: { "content-type": "text/plain" }, body: "ok" }],
  ])("%s: it has it", async (_, answer) => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    destination.answer = () => answer;
    await collector.store(created);
    await expect.poll(() => collector.metrics(), WAIT).toContain(sent(1));
    expect(destination.requests).toHaveLength(1);
  });

  test.each([429, 503, 502, 504, 408, 401, 404, 301])("%s: it comes again, until it is taken", async (code) => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    destination.answer = () => ({ code: destination.requests.length < 3 ? code : 200 });
    await collector.store(created);
    await expect.poll(() => collector.metrics(), WAIT).toContain(sent(1));
    expect(destination.requests).toHaveLength(4);
  });

  test("400, with one bad record among many: the others arrive, it is set aside and counted, once", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ "otlp_http/loki": otlpHttp(destination.url, "logs") });
    const delivered: unknown[] = [];
    destination.answer = (request) => {
      const records = recordsOf(request);
      if (records.some(({ body }) => body.includes("poison"))) {
        const body = Buffer.from(encodeStatusProtobuf({ code: 3, message: "entry too far behind" })).toString("latin1");
        return { code: 400, headers: { "content-type": "application/octet-stream" }, body };
      }
      delivered.push(...records.map(({ attributes }) => attributes["agent_lifecycle.child_id"]));
      return { code: 204 };
    };
    const childIds = Array.from({ length: 20 }, (_, index) => (index === 13 ? "poison" : `child-${index}`));
    await collector.store(...childIds.map((childId) => makeEvent({ childId, state: "created", sequence: 1 })));
    await collector.store(makeEvent({ childId: "later", state: "created", sequence: 1 }));
    await destination.until(() => delivered.includes("later"));
    expect(delivered).toEqual([...childIds.filter((id) => id !== "poison"), "later"]);
    const counted = 'agent_lifecycle_export_records_total{exporter="otlp_http/loki:logs",outcome="set_aside"} 1';
    await expect.poll(() => collector.metrics(), WAIT).toContain(counted);
    expect(collector.setAside("otlp_http/loki:logs")).toHaveLength(1);
    // The content stays where it was; the list names the input alone.
    expect(collector.complaints.join("\n")).not.toContain("poison");
  });

  test("500 over one record only: it is set aside, when the destination is seen to take others", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    destination.answer = (request) => ({
      code: recordsOf(request).some(({ body }) => body.includes("poison")) ? 500 : 200,
    });
    await collector.store(makeEvent({ childId: "poison", state: "created", sequence: 1 }), created);
    await expect.poll(() => collector.metrics(), WAIT).toContain(sent(1));
    expect(collector.setAside("otlp_http:logs")).toEqual([1]);
  });

  test("500 over everything: nothing is set aside, however long it takes", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    destination.answer = () => ({ code: destination.requests.length < 40 ? 500 : 200 });
    await collector.store(created);
    await expect.poll(() => collector.metrics(), WAIT).toContain(sent(1));
    expect(() => collector.setAside("otlp_http:logs")).toThrow("ENOENT");
  });

  test("400 to everything, also to nothing: no record is set aside, and all arrive once it is corrected", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    // What a server of TLS in Go says to whoever speaks plain HTTP to it.
    const headers = { "content-type": "text/plain" };
    const body = "Client sent an HTTP request to an HTTPS server.";
    destination.answer = () => (destination.requests.length < 20 ? { code: 400, headers, body } : { code: 200 });
    await collector.store(created, starting);
    await expect.poll(() => collector.metrics(), WAIT).toContain(sent(2));
    expect(() => collector.setAside("otlp_http:logs")).toThrow("ENOENT");
    expect(collector.complaints.filter((line) => line.includes(body))).toHaveLength(1);
  });

  test("400 to everything, in the same words, for a quarter of an hour: a record is set aside after all, and told of", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    destination.answer = () => ({ code: 400 });
    await collector.store(created);
    await expect.poll(() => collector.metrics(), WAIT).toContain(setAside(1));
    expect(destination.requests).toHaveLength(2 * 19 + 1);
    expect(collector.complaints.at(-1)).toContain("it is set aside");
  });

  test.each([
    ["400 over the first record ever", 400],
    ["500 over the first record ever", 500],
  ])("%s, and 422 to a request without records, as Loki: it is set aside", async (_, code) => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    destination.answer = (request) => {
      const records = recordsOf(request);
      if (records.length === 0) return { code: 422 };
      return { code: records.some((record) => record.body.includes("poison")) ? code : 204 };
    };
    await collector.store(makeEvent({ childId: "poison", state: "created", sequence: 1 }), created);
    await expect.poll(() => collector.metrics(), WAIT).toContain(sent(1));
    expect(collector.setAside("otlp_http:logs")).toEqual([1]);
  });

  test("Retry-After: it is not asked again before", async () => {
    const destination = await startHttpDestination();
    const settings = { ...otlpHttp(destination.url, "logs"), maxBackoffMs: 60_000 };
    const collector = await startExporting({ otlp_http: settings });
    let firstAt = 0;
    let secondAt = 0;
    destination.answer = () => {
      if (firstAt === 0) {
        firstAt = performance.now();
        return { code: 429, headers: { "retry-after": "1" } };
      }
      secondAt = performance.now();
      return { code: 200 };
    };
    await collector.store(created);
    await destination.until(() => destination.requests.length === 2);
    // Without it the wait would have been a millisecond.
    expect(secondAt - firstAt).toBeGreaterThan(900);
  });

  test("Retry-After of no time at all: the waits grow all the same", async () => {
    const destination = await startHttpDestination();
    const settings = { ...otlpHttp(destination.url, "logs"), initialBackoffMs: 60_000, maxBackoffMs: 60_000 };
    const collector = await startExporting({ otlp_http: settings });
    destination.answer = () => ({ code: 503, headers: { "retry-after": "0" } });
    await collector.store(created);
    await destination.until(() => destination.requests.length === 1);
    const counted = 'agent_lifecycle_export_retries_total{exporter="otlp_http:logs"} 1';
    await expect.poll(() => collector.metrics(), WAIT).toContain(counted);
    // A second one would have come in the time of the exchanges above.
    await collector.stop();
    expect(destination.requests).toHaveLength(1);
  });

  test("a partial success: what was rejected is counted, said once, and not sent again", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    const partialSuccess = { rejectedLogRecords: "1", errorMessage: "one is too long" };
    destination.answer = () => ({
      code: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ partialSuccess }),
    });
    await collector.store(created, starting);
    await expect.poll(() => collector.metrics(), WAIT).toContain('exporter="otlp_http:logs",outcome="rejected"} 1');
    expect(await collector.metrics()).toContain(sent(1));
    expect(collector.complaints.filter((line) => line.includes("one is too long"))).toHaveLength(1);
  });
});

function setAside(records: number): string {
  return `agent_lifecycle_export_records_total{exporter="otlp_http:logs",outcome="set_aside"} ${records}`;
}

function sent(records: number): string {
  return `agent_lifecycle_export_records_total{exporter="otlp_http:logs",outcome="sent"} ${records}`;
}

describe("an outage", () => {
  it("loses nothing and delivers nothing twice, with restarts of both sides in between", async () => {
    const destination = await startHttpDestination();
    const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "logs") });
    await collector.store(created);
    await destination.until(() => taken(destination).length === 1);
    await expect.poll(() => collector.metrics(), WAIT).toContain(sent(1));
    await destination.stop();
    await collector.store(starting);
    await expect.poll(() => collector.complaints.length).toBe(1);
    await collector.stop();
    await collector.start();
    await collector.store(running);
    await destination.restart();
    await destination.until(() => taken(destination).length === 3);
    const states = taken(destination).map(({ attributes }) => attributes["agent_lifecycle.state"]);
    expect(states).toEqual(["created", "starting", "running"]);
  });

  it("of one destination delays no other", async () => {
    const [dead, alive] = [await startHttpDestination(), await startHttpDestination()];
    const collector = await startExporting({
      "otlp_http/dead": otlpHttp(dead.url, "logs"),
      "otlp_http/alive": otlpHttp(alive.url, "logs"),
    });
    dead.answer = () => new Promise(() => {});
    await collector.store(created);
    await alive.until(() => taken(alive).length === 1);
    await dead.stop();
    const metrics = await collector.metrics();
    expect(metrics).toContain('agent_lifecycle_export_lag_inputs{exporter="otlp_http/alive:logs"}');
  });
});
