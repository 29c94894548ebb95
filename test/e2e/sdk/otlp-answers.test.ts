import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { type Answer, answerWith, breakOff, hang, startLogsServer, succeed } from "./logs-server.ts";
import { emitSome, STATES, start } from "./running-lifecycle.ts";

describe("an answer", () => {
  it("of 503 is followed by another try, and the row is told with its end", async () => {
    const server = await startLogsServer([answerWith(503), answerWith(503), answerWith(429, { "retry-after": "0" })]);
    const { lifecycle, diagnostics } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(server.requests).toHaveLength(4);
    expect(server.accepted().map((event) => event.state)).toEqual(STATES);
    expect(lifecycle.counters()).toMatchObject({ exported: 5, dropped: {} });
    expect(diagnostics.map(({ code }) => code)).toEqual(["export_failed", "export_recovered"]);
  });

  it("with a Retry-After is waited for as long as it says, also by flushes that come meanwhile", async () => {
    const server = await startLogsServer([answerWith(503, { "retry-after": "1" })]);
    const { lifecycle } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    const startedAt = performance.now();
    expect(await lifecycle.flush({ timeoutMs: 200 })).toEqual({ complete: false });
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    expect(server.requests).toHaveLength(2);
  });

  it("with a Retry-After beyond the patience sends the batch to the fallback", async () => {
    const server = await startLogsServer([answerWith(503, { "retry-after": "60" })]);
    const path = join(temporaryDirectory(), "fallback.jsonl");
    const { lifecycle } = start({ endpoint: server.endpoint, jsonl: { path } });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(readEvents(path).map((event) => event.state)).toEqual(STATES);
    expect(lifecycle.counters()).toMatchObject({ exported: 0, writtenToJsonl: 5, dropped: {} });
  });

  for (const code of [307, 400, 401, 404, 500]) {
    it(`of ${code} is final, counted and told`, async () => {
      const server = await startLogsServer([answerWith(code)]);
      const { lifecycle, diagnostics } = start({ endpoint: server.endpoint });
      emitSome(lifecycle);
      expect(await lifecycle.flush()).toEqual({ complete: true });
      expect(server.requests).toHaveLength(1);
      expect(lifecycle.counters()).toMatchObject({ exported: 0, dropped: { export_refused: 5 } });
      expect(diagnostics.map(({ message }) => message)).toContain(`HTTP ${code}`);
    });
  }

  it("of 413 is followed by the batch in halves: what is too large by itself is refused, and nothing beside it", async () => {
    const tooLarge: Answer = (response, request) => {
      const isTooLarge = request.events.length > 2 || request.events.some(({ kind }) => kind === "activity");
      (isTooLarge ? answerWith(413) : succeed)(response, request);
    };
    const server = await startLogsServer(Array.from({ length: 20 }, () => tooLarge));
    const { lifecycle, diagnostics } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(server.accepted().map(({ state }) => state)).toEqual(STATES.filter((state) => state !== undefined));
    expect(lifecycle.counters()).toMatchObject({ exported: 4, dropped: { rejected_by_endpoint: 1 } });
    expect(diagnostics).toMatchObject([{ code: "events_rejected", message: expect.stringContaining("HTTP 413") }]);
  });

  it("of 413 to every part is final, counted and told", async () => {
    const server = await startLogsServer(Array.from({ length: 20 }, () => answerWith(413)));
    const { lifecycle, diagnostics } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(server.accepted()).toEqual([]);
    expect(lifecycle.counters()).toMatchObject({ exported: 0, dropped: { export_refused: 5 } });
    expect(diagnostics.map(({ message }) => message)).toContain("HTTP 413");
  });

  it("of 503 to one half leaves the whole batch to another try, and what came twice has the same ids", async () => {
    const server = await startLogsServer([answerWith(413), succeed, answerWith(503, { "retry-after": "0" })]);
    const { lifecycle } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(new Set(server.accepted().map(({ eventId }) => eventId)).size).toBe(STATES.length);
    expect(lifecycle.counters()).toMatchObject({ exported: 5, dropped: {} });
  });

  for (const [what, body] of [
    ["as OTLP writes it", '{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"record 3: sequence"}}'],
    ["with a plain number", '{"partialSuccess":{"rejectedLogRecords":2,"errorMessage":"record 3: sequence"}}'],
  ] as const) {
    it(`of partial success ${what} is counted and told, and nothing is sent again`, async () => {
      const server = await startLogsServer([answerWith(200, { "content-type": "application/json" }, body)]);
      const { lifecycle, diagnostics } = start({ endpoint: server.endpoint });
      emitSome(lifecycle);
      await lifecycle.flush();
      expect(server.requests).toHaveLength(1);
      expect(lifecycle.counters()).toMatchObject({ exported: 3, dropped: { rejected_by_endpoint: 2 } });
      expect(diagnostics).toMatchObject([{ code: "events_rejected", message: expect.stringContaining("record 3") }]);
    });
  }

  for (const [what, answer] of [
    ["an empty 200", answerWith(200)],
    ["a 204", answerWith(204)],
    ["a 200 that makes no sense", answerWith(200, {}, "<html>")],
    ["a rejected count without sense", answerWith(200, {}, '{"partialSuccess":{"rejectedLogRecords":"many"}}')],
  ] as const) {
    it(`of ${what} is a success`, async () => {
      const server = await startLogsServer([answer]);
      const { lifecycle } = start({ endpoint: server.endpoint });
      emitSome(lifecycle);
      await lifecycle.flush();
      expect(lifecycle.counters()).toMatchObject({ exported: 5, dropped: {} });
    });
  }

  it("that breaks off is no answer: the batch comes again, with the same event ids", async () => {
    const server = await startLogsServer([breakOff]);
    const { lifecycle } = start({ endpoint: server.endpoint });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(server.requests).toHaveLength(2);
    const [first, second] = server.requests;
    expect(second?.events).toEqual(first?.events);
  });

  it("that never comes ends with the request's time-out, and the batch comes again", async () => {
    const server = await startLogsServer([hang]);
    const { lifecycle, diagnostics } = start({ endpoint: server.endpoint, delivery: { requestTimeoutMs: 100 } });
    emitSome(lifecycle);
    expect(await lifecycle.flush()).toEqual({ complete: true });
    expect(server.requests).toHaveLength(2);
    expect(diagnostics[0]?.message).toBe("no answer within 100 ms");
  });
});

it("an outage costs nothing that fits the buffer: sending goes on by itself when the endpoint is back", async () => {
  const gone = await startLogsServer();
  const { port } = gone;
  const { lifecycle } = start({ endpoint: gone.endpoint, delivery: { scheduledDelayMs: 10 } });
  emitSome(lifecycle);
  await lifecycle.flush();
  expect(gone.accepted()).toHaveLength(5);
  await gone.stop();
  emitSome(lifecycle);
  expect(await lifecycle.flush({ timeoutMs: 100 })).toEqual({ complete: false });
  const back = await startLogsServer([], port);
  await back.requestCount(1);
  expect(await lifecycle.flush()).toEqual({ complete: true });
  expect(back.accepted().map((event) => event.state)).toEqual(STATES);
  expect(lifecycle.counters()).toMatchObject({ exported: 10, dropped: {} });
});
