import { RECORD_ATTRIBUTES, rootSpanIdOf, traceIdOf } from "@agent-lifecycle/collector/parts";
import { describe, expect, it } from "vitest";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { type HttpDestination, startHttpDestination } from "../../../kit/http-destination.ts";
import { type ReceivedSpan, spansOf } from "../../../kit/otlp-json.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { otlpHttp, startExporting } from "./exporting-collector.ts";

const [UNSET, OK, ERROR] = [0, 1, 2];

function spans({ requests }: HttpDestination): readonly ReceivedSpan[] {
  return requests.flatMap(spansOf);
}

async function exporting() {
  const destination = await startHttpDestination();
  const collector = await startExporting({ otlp_http: otlpHttp(destination.url, "traces") });
  const until = (count: number): Promise<void> => destination.until(() => spans(destination).length >= count);
  return { destination, collector, until };
}

describe("spans of a child", () => {
  it("are one for each time in a state, as soon as it is over, and one for its life", async () => {
    const { destination, collector, until } = await exporting();
    await collector.store(
      makeEvent({ state: "created", sequence: 1 }),
      makeEvent({ state: "starting", sequence: 2, at: 1_000 }),
      makeEvent({ state: "running", sequence: 3, at: 3_000 }),
    );
    await until(2);
    const child = { source: "runner", childId: "child-1" };
    const common = { traceId: traceIdOf({ source: "runner", rootChildId: "child-1" }) };
    expect(spans(destination)).toMatchObject([
      {
        ...common,
        name: "agent created",
        startMs: START_MS,
        endMs: START_MS + 1_000,
        parentSpanId: rootSpanIdOf(child),
      },
      { ...common, name: "agent starting", startMs: START_MS + 1_000, endMs: START_MS + 3_000 },
    ]);
    await collector.store(makeEvent({ state: "completed", sequence: 4, at: 9_000 }));
    await until(4);
    const [, , running, life] = spans(destination);
    expect(running?.attributes).toMatchObject({
      "agent_lifecycle.span": "interval",
      "agent_lifecycle.state": "running",
      "agent_lifecycle.next_state": "completed",
      "agent_lifecycle.child_id": "child-1",
    });
    expect(life).toMatchObject({ ...common, name: "agent lifecycle", spanId: rootSpanIdOf(child), startMs: START_MS });
    expect(life?.endMs).toBe(START_MS + 9_000);
    expect(life?.parentSpanId ?? "").toBe("");
    const known = new Set(Object.values(RECORD_ATTRIBUTES).map(({ name }) => name as string));
    for (const { attributes } of spans(destination)) {
      for (const name of Object.keys(attributes)) expect(known).toContain(name);
    }
  });

  it.each([
    ["completed", { code: OK }, undefined],
    ["failed", { code: ERROR, message: "failed: out_of_memory" }, "out_of_memory"],
    ["cancelled", { code: UNSET }, undefined],
    ["lost", { code: ERROR, message: "lost: out_of_memory" }, "out_of_memory"],
  ] as const)("end as it ended: %s", async (state, status, errorType) => {
    const { destination, collector, until } = await exporting();
    const details = errorType === undefined ? {} : { details: { cause: errorType } };
    await collector.store(
      makeEvent({ state: "created", sequence: 1 }),
      makeEvent({ state: "starting", sequence: 2, at: 1 }),
      makeEvent({ state: "running", sequence: 3, at: 2 }),
      makeEvent({ state, sequence: 4, at: 3, ...details }),
    );
    await until(4);
    const life = spans(destination)[3];
    expect({ code: UNSET, ...life?.status }).toEqual(status);
    expect(life?.attributes).toMatchObject({ "agent_lifecycle.state": state });
    expect(life?.attributes["error.type"]).toBe(errorType);
  });

  it("tell a loss that the collector concluded from one that was reported", async () => {
    const { destination, collector, until } = await exporting();
    await collector.store(makeEvent({ state: "created", sequence: 1, capabilities: { heartbeat: "known" } }));
    collector.clock.pass(600_000);
    await collector.pace.next();
    collector.clock.pass(600_000);
    await collector.pace.next();
    await until(2);
    expect(spans(destination)[1]).toMatchObject({
      status: { code: ERROR, message: "lost: failed_reconciliation" },
      attributes: { "agent_lifecycle.evidence": "failed_reconciliation" },
    });
  });

  it("are below those of the child that delegated to it, in one trace", async () => {
    const { destination, collector, until } = await exporting();
    const lineage = { rootChildId: "root", parentChildId: "middle" };
    await collector.store(
      makeEvent({ childId: "leaf", state: "created", sequence: 1, lineage }),
      makeEvent({ childId: "leaf", state: "cancelled", sequence: 2, at: 5, lineage }),
    );
    await until(2);
    expect(spans(destination)[1]).toMatchObject({
      traceId: traceIdOf({ source: "runner", rootChildId: "root" }),
      parentSpanId: rootSpanIdOf({ source: "runner", childId: "middle" }),
    });
  });

  it("of a retry link to the first attempt, and of a new epoch to the last interval before it", async () => {
    const { destination, collector, until } = await exporting();
    const lineage = { rootChildId: "first", attempt: 1 };
    await collector.store(
      makeEvent({ childId: "second", state: "created", sequence: 1, lineage }),
      makeEvent({ childId: "second", state: "starting", sequence: 2, at: 10, lineage }),
      makeEvent({ childId: "second", state: "running", sequence: 1, at: 20, lineage, sourceEpoch: "epoch-2" }),
      makeEvent({ childId: "second", state: "failed", sequence: 2, at: 30, lineage, sourceEpoch: "epoch-2" }),
    );
    await until(4);
    const [created, starting, running, life] = spans(destination);
    expect(created?.links).toEqual([]);
    expect(starting?.links).toMatchObject([
      { spanId: created?.spanId, attributes: { "agent_lifecycle.link": "previous_epoch" } },
    ]);
    expect(running?.links).toEqual([]);
    expect(life?.links).toMatchObject([
      {
        spanId: rootSpanIdOf({ source: "runner", childId: "first" }),
        attributes: { "agent_lifecycle.link": "first_attempt" },
      },
    ]);
  });

  it("have the ids again that they had when they are sent again", async () => {
    const { destination, collector, until } = await exporting();
    destination.answer = () => ({ code: 503 });
    await collector.store(
      makeEvent({ state: "created", sequence: 1 }),
      makeEvent({ state: "starting", sequence: 2, at: 1_000 }),
    );
    await collector.snapshot(makeSnapshot({ at: 5_000, children: [{ childId: "child-1", state: "failed" }] }));
    // Whatever was read in one batch before, it is all read again now.
    await until(2);
    await collector.stop();
    const before = spans(destination);
    destination.answer = () => ({ code: 200 });
    await collector.start();
    await until(before.length + 3);
    const again = spans(destination).slice(before.length);
    expect(again.map(({ name }) => name)).toEqual(["agent created", "agent starting", "agent lifecycle"]);
    for (const span of before) expect(again).toContainEqual(span);
  });
});
