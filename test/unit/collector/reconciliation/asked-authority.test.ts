import { AuthorityConflictError } from "@agent-lifecycle/collector";
import { AskedAuthority } from "@agent-lifecycle/collector/parts";
import { DEFAULT_ASKING_POLICY } from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";
import { TEST_POLICY } from "../../../kit/core-run.ts";
import { makeSnapshot } from "../../../kit/events.ts";
import { ScriptedAuthority } from "../../../kit/scripted-authority.ts";
import { ANSWER_TIMEOUT_MS, AUTHORITY_ID, ReconcilingCollector, SOURCE } from "./reconciling-collector.ts";

const { intervalMs, pauseMs, retryMs } = DEFAULT_ASKING_POLICY;
const { staleAfterMs } = TEST_POLICY;

describe("an authority is asked", () => {
  test("when the collector starts, then at its interval", async () => {
    const collector = new ReconcilingCollector();
    await collector.until(intervalMs * 2);
    expect(collector.authority.askedAt).toEqual([0, intervalMs, intervalMs * 2]);
    expect(collector.outcomes).toEqual(["answered", "answered", "answered"]);
  });

  test("at once when a child goes stale, and once for all that do so together", async () => {
    const collector = new ReconcilingCollector();
    const { authority } = collector;
    for (let child = 0; child < 100; child += 1) {
      await collector.report({ childId: `child-${child}`, state: "created", sequence: 0 });
    }
    authority.knows = { coverage: ["somebody else"] };
    await collector.until(staleAfterMs + pauseMs * 3);
    expect(collector.shows("child-99")).toBe("created (stale: deadline)");
    // The interval falls on the same time; those that became stale then cost one question more.
    expect(authority.askedAt.filter((at) => at >= staleAfterMs)).toEqual([staleAfterMs, staleAfterMs + pauseMs]);
  });

  test("at once when it says that it is back, however long it could not be reached", async () => {
    const collector = new ReconcilingCollector();
    const { authority, running } = collector;
    authority.behaviour = { fails: "nobody is there" };
    await collector.until(60_000);
    const askedBefore = authority.askedAt.length;
    authority.behaviour = "answers";
    running.authorities.want(SOURCE, "reconnect");
    await collector.until(60_001);
    expect(authority.askedAt.slice(askedBefore)).toEqual([60_000]);
    expect(running.authorities.of(SOURCE)?.status).toMatchObject({ failuresInARow: 0, answers: 1 });
  });

  test("once more after an absence of the collector", async () => {
    const collector = new ReconcilingCollector();
    await collector.until(10_500);
    collector.machine.suspend(3_600_000, { isMonotonicFrozen: true });
    await collector.until(collector.machine.now + 2_000);
    expect(collector.authority.askedAt).toEqual([0, 3_610_500]);
  });

  test("never twice at one time, also when it does not listen", async () => {
    const collector = new ReconcilingCollector();
    collector.authority.delayMs = ANSWER_TIMEOUT_MS * 3;
    await collector.until(120_000);
    expect(collector.authority.askedAt.length).toBeGreaterThan(2);
    expect(collector.authority.mostOpen).toBe(1);
  });
});

describe("a question that comes to nothing", () => {
  test.each([
    ["fails", { fails: "connection refused" }, "failed", "connection refused"],
    ["hangs", "hangs", "timed_out", `no answer within ${ANSWER_TIMEOUT_MS} ms`],
    ["gives no snapshot", { gives: "<html>" }, "rejected", "its answer is refused: a snapshot is a JSON object"],
    [
      "speaks for another source",
      { gives: JSON.parse(JSON.stringify(makeSnapshot({ source: "other" }))) as unknown },
      "rejected",
      "its answer is refused: source: the sender may not speak for other",
    ],
  ] as const)(
    "because the authority %s is counted, told, and asked again later",
    async (_, behaviour, outcome, text) => {
      const collector = new ReconcilingCollector();
      collector.authority.behaviour = behaviour;
      await collector.until(ANSWER_TIMEOUT_MS);
      expect(collector.outcomes[0]).toBe(outcome);
      const { status } = collector.running.authorities.of(SOURCE) ?? {};
      expect(status?.lastFailure).toBe(text);
      expect(status?.answers).toBe(0);
      await collector.until(ANSWER_TIMEOUT_MS + retryMs * 2);
      expect(collector.authority.askedAt.length).toBeGreaterThan(1);
    },
  );

  test("tells no secret, and no more than a line", async () => {
    const collector = new ReconcilingCollector();
    collector.authority.behaviour = { fails: `Authorization: Bearer s3cr3t-t0k3n-0123456789 ${"x".repeat(10_000)}` };
    await collector.until(10);
    const { lastFailure = "" } = collector.running.authorities.of(SOURCE)?.status ?? {};
    expect(lastFailure).not.toContain("s3cr3t");
    expect(lastFailure.length).toBeLessThanOrEqual(200);
  });

  test("because nothing can be stored now is no fault of the authority, and its answer counts later", async () => {
    const collector = new ReconcilingCollector();
    collector.simulated.faults.breakDown("commit");
    await collector.until(2_000);
    expect(collector.outcomes[0]).toBe("not_stored");
    collector.simulated.faults.repair();
    await collector.until(60_000);
    expect(collector.outcomes.at(-1)).toBe("answered");
  });
});

describe("snapshots of a source that has an authority", () => {
  test("are taken from nobody else", async () => {
    const collector = new ReconcilingCollector();
    await collector.report({ state: "created", sequence: 0 });
    await collector.until(10);
    expect(await collector.push("snapshot_http", { children: [{ childId: "child-1", state: "completed" }] })).toBe(
      "rejected",
    );
    expect(collector.shows()).toBe("created");
    expect(await collector.push("snapshot_http", { source: "another", children: [] })).toBe("applied");
  });

  test("count as an answer when its own component hands one over unasked", async () => {
    const collector = new ReconcilingCollector();
    await collector.until(10);
    expect(await collector.push(AUTHORITY_ID, { children: [{ childId: "child-2" }] })).toBe("applied");
    const { status } = collector.running.authorities.of(SOURCE) ?? {};
    expect(status?.answers).toBe(2);
    expect(status?.statement?.listed).toEqual(new Set(["child-2"]));
  });
});

test("a source has one authority at most", () => {
  const { authorities } = new ReconcilingCollector().running;
  const second = new ScriptedAuthority(
    SOURCE,
    () => 0,
    () => {},
  );
  const add = (): void => {
    authorities.add(
      new AskedAuthority({
        id: "scripted/second",
        kind: "scripted",
        supportLevel: "experimental",
        snapshotSource: second,
        intake: new ReconcilingCollector().running.door,
        clock: { wallNow: () => 0, monotonicNow: () => 0 },
        policy: DEFAULT_ASKING_POLICY,
        timeoutMs: 1,
        onOutcome: () => {},
      }),
    );
  };
  expect(add).toThrow(AuthorityConflictError);
  expect(add).toThrow("scripted/runner and scripted/second would both be the authority of the source runner");
});

test("a shutdown does not wait for an answer, and nothing is asked after it", async () => {
  const collector = new ReconcilingCollector();
  collector.authority.behaviour = "hangs";
  await collector.until(10);
  expect(collector.authority.open).toBe(1);
  await collector.running.authorities.shutdown();
  await collector.running.authorities.shutdown();
  expect(collector.authority.open).toBe(0);
  expect(collector.authority.isShutDown).toBe(true);
  expect(collector.outcomes).toEqual([]);
  await collector.until(intervalMs * 3);
  expect(collector.authority.askedAt).toEqual([0]);
});
