import { traceIdOf } from "@agent-lifecycle/collector/parts";
import { describe, expect, it } from "vitest";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { type EmbeddedCollector, metric, RECEIVER, startEmbedded, store } from "../runtime/embedded-collector.ts";

const MINUTE_MS = 60_000;

async function exposition({ collector }: EmbeddedCollector, accept = "text/plain"): Promise<string> {
  return (await fetch(new URL("/metrics", collector.apiUrl), { headers: { accept } })).text();
}

describe("what becomes of children is counted as it happens", () => {
  it("counts changes of state, and the time in the state that was left", async () => {
    const embedded = await startEmbedded();
    await store(
      embedded,
      makeEvent({ state: "created", sequence: 1 }),
      makeEvent({ state: "starting", sequence: 2, at: 1_000 }),
      makeEvent({ state: "running", sequence: 3, at: 3_000 }),
      makeEvent({ state: "completed", sequence: 4, at: 13_000 }),
    );
    expect(await metric(embedded, transition("none", "created"))).toBe(1);
    expect(await metric(embedded, transition("starting", "running"))).toBe(1);
    expect(await metric(embedded, 'agent_lifecycle_state_duration_seconds_sum{state="running"}')).toBe(10);
    expect(await metric(embedded, "agent_lifecycle_start_delay_seconds_sum")).toBe(3);
    expect(await metric(embedded, 'agent_lifecycle_lifetime_seconds_sum{state="completed"}')).toBe(13);
    expect(
      await metric(
        embedded,
        'agent_lifecycle_ended_children_total{source="runner",state="completed",evidence="event"}',
      ),
    ).toBe(1);
  });

  it("counts a child that ended without having started", async () => {
    const embedded = await startEmbedded();
    await store(
      embedded,
      makeEvent({ state: "created", sequence: 1 }),
      makeEvent({ state: "cancelled", sequence: 2, at: 5 }),
    );
    const name = 'agent_lifecycle_never_started_children_total{source="runner",state="cancelled"}';
    expect(await metric(embedded, name)).toBe(1);
  });

  it("shows that none was lost before the first one is, so that it is an increase", async () => {
    const embedded = await startEmbedded();
    await store(embedded, makeEvent({ state: "created", sequence: 1 }));
    const lost = 'agent_lifecycle_ended_children_total{source="runner",state="lost",evidence="failed_reconciliation"}';
    expect(await metric(embedded, lost)).toBe(0);
  });

  it("counts a repeated delivery once", async () => {
    const embedded = await startEmbedded();
    const created = makeEvent({ state: "created", sequence: 1 });
    await store(embedded, created);
    await store(embedded, created);
    expect(await metric(embedded, transition("none", "created"))).toBe(1);
  });

  it("counts conflicts, late claims, and corrections by snapshots", async () => {
    const embedded = await startEmbedded();
    await store(
      embedded,
      makeEvent({ state: "created", sequence: 1 }),
      makeEvent({ state: "cancelled", sequence: 1, at: 1 }),
      makeEvent({ childId: "ended", state: "created", sequence: 1 }),
      makeEvent({ childId: "ended", state: "failed", sequence: 2, at: 2 }),
      makeEvent({ childId: "ended", state: "running", sequence: 3, at: 3 }),
    );
    const snapshot = makeSnapshot({ at: 1_000, children: [{ childId: "child-1", state: "running" }] });
    await embedded.collector.intake.acceptSnapshot(JSON.parse(JSON.stringify(snapshot)), {
      receiver: RECEIVER,
      backfill: false,
      bytes: 0,
    });
    expect(await metric(embedded, 'agent_lifecycle_conflicts_total{source="runner"}')).toBe(1);
    expect(await metric(embedded, 'agent_lifecycle_late_evidence_total{source="runner"}')).toBe(1);
    expect(await metric(embedded, 'agent_lifecycle_corrections_total{source="runner"}')).toBe(1);
    expect(await metric(embedded, transition("created", "running"))).toBe(1);
  });

  it("names a trace in OpenMetrics, and only there", async () => {
    const embedded = await startEmbedded();
    await store(
      embedded,
      makeEvent({ state: "created", sequence: 1 }),
      makeEvent({ state: "failed", sequence: 2, at: 2_000 }),
    );
    const traceId = traceIdOf({ source: "runner", rootChildId: "child-1" });
    expect(await exposition(embedded, "application/openmetrics-text")).toContain(`# {trace_id="${traceId}"} 2`);
    expect(await exposition(embedded)).not.toContain(traceId);
  });
});

describe("how the children stand is read when it is asked for", () => {
  it("counts the live ones by source and state, and forgets those that ended", async () => {
    const embedded = await startEmbedded();
    await store(embedded, makeEvent({ state: "created", sequence: 1 }));
    const unstarted = 'agent_lifecycle_unstarted_children{source="runner"}';
    expect(await metric(embedded, live("created"))).toBe(1);
    expect(await metric(embedded, unstarted)).toBe(1);
    await store(embedded, makeEvent({ state: "cancelled", sequence: 2, at: 1 }));
    expect(await exposition(embedded)).not.toContain(live("created"));
    expect(await exposition(embedded)).not.toContain(unstarted);
  });

  it("tells what waiting children wait for, and says unknown where nobody said", async () => {
    const embedded = await startEmbedded();
    const waiting = { state: "waiting", lineage: { external: true, adoptedAt: "2026-09-01T00:00:00Z" } } as const;
    await store(
      embedded,
      makeEvent({ ...waiting, childId: "a", sequence: 1, details: { waitingOn: { kind: "permission" } } }),
      makeEvent({ ...waiting, childId: "b", sequence: 1 }),
    );
    expect(await metric(embedded, 'agent_lifecycle_waiting_children{source="runner",kind="permission"}')).toBe(1);
    expect(await metric(embedded, 'agent_lifecycle_waiting_children{source="runner",kind="unknown"}')).toBe(1);
  });

  it("tells how long the most silent child has been silent, and how the question about it ended", async () => {
    const embedded = await startEmbedded();
    await store(embedded, makeEvent({ state: "created", sequence: 1, capabilities: { heartbeat: "known" } }));
    embedded.clock.pass(10 * MINUTE_MS);
    expect(await metric(embedded, 'agent_lifecycle_evidence_age_max_seconds{source="runner"}')).toBe(600);
    await embedded.pace.next();
    expect(await metric(embedded, 'agent_lifecycle_live_children_stale{source="runner",reason="deadline"}')).toBe(1);
    expect(await metric(embedded, 'agent_lifecycle_staled_children_total{source="runner",reason="deadline"}')).toBe(1);
    expect(await metric(embedded, 'agent_lifecycle_pending_reconciliations{source="runner"}')).toBe(1);
    embedded.clock.pass(10 * MINUTE_MS);
    await embedded.pace.next();
    expect(await metric(embedded, 'agent_lifecycle_reconciliations_total{source="runner",outcome="lost"}')).toBe(1);
    const lost = 'agent_lifecycle_ended_children_total{source="runner",state="lost",evidence="failed_reconciliation"}';
    expect(await metric(embedded, lost)).toBe(1);
  });

  it("gives the first hundred sources their names, and the others one", async () => {
    const embedded = await startEmbedded();
    const events = Array.from({ length: 103 }, (_, index) =>
      makeEvent({ source: `source-${index}`, childId: `child-${index}`, state: "created", sequence: 1 }),
    );
    await store(embedded, ...events);
    expect(await metric(embedded, 'agent_lifecycle_live_children{source="other",state="created"}')).toBe(3);
    expect(await metric(embedded, 'agent_lifecycle_live_children{source="source-99",state="created"}')).toBe(1);
  });
});

function transition(from: string, to: string): string {
  return `agent_lifecycle_transitions_total{source="runner",from="${from}",to="${to}"}`;
}

function live(state: string): string {
  return `agent_lifecycle_live_children{source="runner",state="${state}"}`;
}
