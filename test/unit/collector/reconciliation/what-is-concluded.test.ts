import { PushAuthority } from "@agent-lifecycle/collector/parts";
import { DEFAULT_ASKING_POLICY } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { TEST_POLICY } from "../../../kit/core-run.ts";
import { AUTHORITY_ID, ReconcilingCollector, SOURCE } from "./reconciling-collector.ts";

const { staleAfterMs, reconcileDeadlineMs } = TEST_POLICY;
const { intervalMs, pauseMs } = DEFAULT_ASKING_POLICY;
/** One look of the liveness loop. */
const LOOK_MS = 1_000;
const KNOWN = { heartbeat: "known" } as const;

/** A child that began at 0, ran at 10 ms and says nothing more; its authority lists nobody unless told otherwise. */
async function silentChild(collector = new ReconcilingCollector()): Promise<ReconcilingCollector> {
  collector.authority.knows = { coverage: ["nobody"] };
  await collector.report({ state: "created", sequence: 0 });
  await collector.report({ state: "starting", sequence: 1 });
  await collector.until(10);
  await collector.report({ state: "running", sequence: 2 });
  return collector;
}

const STALE_AT = staleAfterMs + LOOK_MS;
const JUDGED_AT = STALE_AT + reconcileDeadlineMs + LOOK_MS;

describe("a silent child", () => {
  test("that its authority lists in its state is confirmed, however long it says nothing itself", async () => {
    const collector = await silentChild();
    collector.authority.knows = { children: [{ childId: "child-1", state: "running" }] };
    await collector.until(staleAfterMs * 10);
    expect(collector.shows()).toBe("running");
  });

  test("that its authority lists in another state is corrected, with the evidence for it", async () => {
    const collector = await silentChild();
    collector.authority.knows = { children: [{ childId: "child-1", state: "completed" }] };
    await collector.until(STALE_AT + pauseMs);
    expect(collector.child()).toMatchObject({ state: "completed", terminalEvidence: "authoritative_snapshot" });
  });

  test("that its authority omits is lost at the deadline, and not before", async () => {
    const collector = await silentChild();
    await collector.until(STALE_AT - 2 * LOOK_MS);
    collector.authority.knows = {};
    await collector.until(STALE_AT);
    expect(collector.shows()).toBe("running (stale: deadline)");
    await collector.until(JUDGED_AT - 2 * LOOK_MS);
    expect(collector.shows()).toBe("running (stale: deadline)");
    await collector.until(JUDGED_AT);
    expect(collector.child()).toMatchObject({
      state: "lost",
      terminalEvidence: "failed_reconciliation",
      facts: { cause: "omitted_by_authority" },
    });
  });

  test("that its authority does not speak about stays stale, also when it promised heartbeats", async () => {
    const collector = await silentChild();
    await collector.report({ kind: "heartbeat", sequence: 3, capabilities: KNOWN });
    await collector.until(JUDGED_AT * 3);
    expect(collector.shows()).toBe("running (stale: deadline)");
  });

  test("is lost when its authority cannot be reached by the deadline", async () => {
    const collector = await silentChild();
    collector.authority.behaviour = { fails: "connection refused" };
    await collector.until(STALE_AT);
    expect(collector.shows()).toBe("running (stale: deadline)");
    await collector.until(JUDGED_AT);
    expect(collector.child()).toMatchObject({ state: "lost", facts: { cause: "authority_unreachable" } });
  });

  test("is saved by an authority that can be reached again in time", async () => {
    const collector = await silentChild();
    collector.authority.behaviour = { fails: "connection refused" };
    collector.authority.knows = { children: [{ childId: "child-1" }] };
    await collector.until(STALE_AT + 15_000);
    expect(collector.shows()).toBe("running (stale: deadline)");
    collector.authority.behaviour = "answers";
    await collector.until(JUDGED_AT * 2);
    expect(collector.shows()).toBe("running");
  });

  test("is not lost while its authority lists it, though by a view that is older than the child's last word", async () => {
    const collector = await silentChild();
    const old = collector.authority;
    old.knows = { children: [{ childId: "child-1", state: "starting" }] };
    old.lagMs = 10 * JUDGED_AT;
    await collector.until(JUDGED_AT * 2);
    expect(collector.shows()).toBe("running (stale: deadline)");
  });

  test("is not lost by a view from before it began", async () => {
    const collector = await silentChild();
    collector.authority.knows = {};
    collector.authority.lagMs = 10 * JUDGED_AT;
    await collector.until(JUDGED_AT * 2);
    expect(collector.shows()).toBe("running (stale: deadline)");
  });
});

describe("an omission", () => {
  test("makes a child stale after the grace and lost at its deadline: absence alone ends nobody (A6)", async () => {
    const collector = await silentChild();
    collector.authority.knows = {};
    await collector.until(intervalMs);
    expect(collector.child().misses).toBe(1);
    expect(collector.shows()).toBe("running");
    await collector.until(intervalMs * 2);
    expect(collector.shows()).toBe("running (stale: snapshot_omission)");
    await collector.until(intervalMs * 2 + reconcileDeadlineMs - LOOK_MS);
    expect(collector.shows()).toBe("running (stale: snapshot_omission)");
    await collector.until(intervalMs * 2 + reconcileDeadlineMs + LOOK_MS);
    expect(collector.shows()).toBe("lost");
  });

  test("is forgiven by presence, and by the child's own word", async () => {
    const collector = await silentChild();
    collector.authority.knows = {};
    await collector.until(intervalMs);
    collector.authority.knows = { children: [{ childId: "child-1" }] };
    await collector.until(intervalMs * 2);
    expect(collector.child().misses).toBe(0);
    collector.authority.knows = {};
    await collector.until(intervalMs * 3);
    await collector.report({ kind: "heartbeat", sequence: 3 });
    expect(collector.child().misses).toBe(0);
  });

  test("that is repeated word for word is one statement: no second miss is counted (A2)", async () => {
    const collector = await silentChild();
    await collector.until(20);
    const statement = { ...collector.authority.snapshot(), coverage: "all", children: [] };
    collector.authority.behaviour = { gives: statement };
    await collector.until(staleAfterMs - LOOK_MS);
    expect(collector.child().misses).toBe(1);
    expect(collector.shows()).toBe("running");
    // It still stands when the child is asked about: nobody it could speak for is there.
    await collector.until(JUDGED_AT);
    expect(collector.shows()).toBe("lost");
  });

  test("by an authority that was restarted ends its earlier children as lost, and never as completed", async () => {
    const collector = await silentChild();
    collector.authority.knows = { sourceEpoch: "epoch-2", children: [{ childId: "new" }] };
    await collector.until(intervalMs * 2);
    expect(collector.shows()).toBe("running (stale: snapshot_omission)");
    expect(collector.shows("new")).toBe("running");
    await collector.until(intervalMs * 2 + reconcileDeadlineMs + LOOK_MS);
    expect(collector.shows()).toBe("lost");
    expect(collector.shows("new")).toBe("running");
  });

  test("by an authority that speaks for its earlier run proves nothing, and neither does a presence there", async () => {
    const collector = await silentChild();
    collector.authority.knows = { sourceEpoch: "epoch-2", coverage: ["nobody"] };
    await collector.until(intervalMs);
    await collector.report({ state: "running", sequence: 0, sourceEpoch: "epoch-2" });
    collector.authority.knows = { sourceEpoch: "epoch-1" };
    await collector.until(intervalMs + JUDGED_AT * 2);
    expect(collector.child().misses).toBe(0);
    expect(collector.shows()).toBe("running (stale: deadline)");
  });
});

describe("a question that is open", () => {
  test("over a suspend of the collector begins anew, and no earlier answer counts (L08)", async () => {
    const collector = await silentChild();
    collector.authority.knows = {};
    await collector.until(STALE_AT + reconcileDeadlineMs - 2 * LOOK_MS);
    expect(collector.shows()).toBe("running (stale: snapshot_omission)");
    collector.authority.knows = { children: [{ childId: "child-1" }] };
    collector.machine.suspend(3 * 3_600_000, { isMonotonicFrozen: true });
    await collector.until(collector.machine.now + 3 * LOOK_MS);
    expect(collector.shows()).toBe("running");
  });

  test("is not judged by an answer that was on its way over the suspend", async () => {
    const collector = await silentChild();
    collector.authority.knows = {};
    await collector.until(STALE_AT - LOOK_MS - 1);
    collector.authority.delayMs = 2_000;
    await collector.until(STALE_AT);
    collector.machine.suspend(3_600_000, { isMonotonicFrozen: false });
    const wokenAt = collector.machine.now;
    collector.authority.behaviour = { fails: "not yet" };
    await collector.until(wokenAt + 15_000);
    expect(collector.shows()).toMatch(/^running \(stale/);
    collector.authority.behaviour = "answers";
    collector.authority.delayMs = 0;
    collector.authority.knows = { children: [{ childId: "child-1" }] };
    await collector.until(wokenAt + JUDGED_AT);
    expect(collector.shows()).toBe("running");
  });

  test("is withdrawn by the child's own word, and a late verdict changes nothing (L26)", async () => {
    const collector = await silentChild();
    collector.authority.behaviour = { fails: "connection refused" };
    await collector.until(JUDGED_AT - 3 * LOOK_MS);
    expect(collector.shows()).toBe("running (stale: deadline)");
    await collector.report({ state: "completed", sequence: 3 });
    await collector.until(JUDGED_AT * 2);
    expect(collector.child()).toMatchObject({ state: "completed", terminalEvidence: "event", lateEvidence: undefined });
  });

  test("is answered by a heartbeat and settled by the snapshot that follows (L32b)", async () => {
    const collector = await silentChild();
    await collector.until(STALE_AT);
    expect(collector.shows()).toBe("running (stale: deadline)");
    await collector.report({ kind: "heartbeat", sequence: 3 });
    expect(collector.shows()).toBe("running");
    collector.authority.knows = { children: [{ childId: "child-1", state: "failed" }] };
    collector.running.authorities.want(SOURCE, "reconnect");
    await collector.until(STALE_AT + 1);
    expect(collector.child()).toMatchObject({ state: "failed", terminalEvidence: "authoritative_snapshot" });
  });
});

test("a snapshot that was taken before a newer state is applied to nobody (L29c)", async () => {
  const collector = await silentChild();
  collector.authority.knows = { children: [{ childId: "child-1", state: "running" }] };
  collector.authority.delayMs = 2_000;
  await collector.until(intervalMs);
  await collector.until(intervalMs + 1_000);
  await collector.report({ state: "waiting", sequence: 3 });
  await collector.until(intervalMs + 3_000);
  expect(collector.shows()).toBe("waiting");
});

test("nested work outlives its parent and is judged by itself (L13)", async () => {
  const collector = await silentChild();
  await collector.report({
    childId: "nested",
    state: "created",
    sequence: 0,
    lineage: { rootChildId: "child-1", parentChildId: "child-1" },
  });
  await collector.report({ state: "completed", sequence: 3 });
  collector.authority.knows = { coverage: ["nested"] };
  await collector.until(intervalMs);
  expect([collector.shows(), collector.shows("nested")]).toEqual(["completed", "created"]);
  await collector.until(intervalMs * 2 + reconcileDeadlineMs + LOOK_MS);
  expect([collector.shows(), collector.shows("nested")]).toEqual(["completed", "lost"]);
});

test("a late truth after a loss is shown beside it, and the loss stands (L29a)", async () => {
  const collector = await silentChild();
  collector.authority.behaviour = { fails: "connection refused" };
  await collector.until(JUDGED_AT);
  collector.authority.behaviour = "answers";
  collector.authority.knows = { children: [{ childId: "child-1", state: "completed" }] };
  collector.running.authorities.want(SOURCE, "reconnect");
  await collector.until(JUDGED_AT + 1);
  expect(collector.shows()).toBe("lost");
  await collector.report({ state: "completed", sequence: 3 });
  expect(collector.child()).toMatchObject({ state: "lost", lateEvidence: { count: 1, lastState: "completed" } });
});

describe("an authority that pushes", () => {
  function pushing(sender?: string): ReconcilingCollector {
    return new ReconcilingCollector(({ clock }) => [
      new PushAuthority({
        id: "push/runner",
        kind: "push",
        supportLevel: "supported",
        source: SOURCE,
        receiver: "snapshot_http",
        sender,
        clock,
        intervalMs: 10_000,
        onOutcome: () => {},
      }),
    ]);
  }

  test("keeps whom it lists, at its own pace", async () => {
    const collector = await silentChild(pushing());
    for (let at = 10_000; at <= JUDGED_AT * 2; at += 10_000) {
      await collector.until(at);
      expect(await collector.push("snapshot_http", { children: [{ childId: "child-1" }] })).toBe("applied");
    }
    expect(collector.shows()).toBe("running");
  });

  test("that is silent by the deadline is unreachable", async () => {
    const collector = await silentChild(pushing());
    await collector.until(STALE_AT - LOOK_MS - 1);
    await collector.push("snapshot_http", { coverage: ["nobody"] });
    await collector.until(JUDGED_AT);
    expect(collector.shows()).toBe("lost");
  });

  test("that omits a child after its question arose has answered", async () => {
    const collector = await silentChild(pushing());
    await collector.until(STALE_AT + LOOK_MS);
    await collector.push("snapshot_http", {});
    await collector.until(JUDGED_AT);
    expect(collector.shows()).toBe("lost");
  });

  test("that speaks of somebody else after the question arose leaves the child stale", async () => {
    const collector = await silentChild(pushing());
    await collector.until(STALE_AT + LOOK_MS);
    await collector.push("snapshot_http", { coverage: ["nobody"] });
    await collector.until(JUDGED_AT);
    expect(collector.shows()).toBe("running (stale: deadline)");
  });

  test("is heard by its own credentials alone, where it names some", async () => {
    const collector = await silentChild(pushing("scheduler"));
    await collector.until(20);
    expect(await collector.push("snapshot_http", { children: [] })).toBe("rejected");
    expect(await collector.push("snapshot_http", { children: [] }, "somebody")).toBe("rejected");
    expect(await collector.push("snapshot_http", { children: [] }, "scheduler")).toBe("applied");
    expect(await collector.push(AUTHORITY_ID, { children: [] }, "scheduler")).toBe("rejected");
  });
});
