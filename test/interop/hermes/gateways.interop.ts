import { setTimeout as delay } from "node:timers/promises";
import type { AuditPage } from "@agent-lifecycle/proto";
import { describe, expect, inject, test } from "vitest";
import { documentedPart } from "../../kit/documented-part.ts";
import { endOf, openSession, PLAN, type SeenWork, startOf } from "./delegated-work.ts";
import { HERMES_PACKAGES, titleOf } from "./installation.ts";
import { allRun, type ObservedWork, observedWork, unobservedWork } from "./observed-work.ts";
import { FRESHNESS, SOURCE } from "./observing-collector.ts";
import { connectOwner } from "./owner.ts";
import { READING } from "./reading-methods.ts";
import { changesOf, countsByType, expectedWork, shownWork, tableOf } from "./shown-work.ts";

const NEVER = new Promise<never>(() => {});

for (const build of HERMES_PACKAGES) {
  const title = titleOf(build);
  describe(`the gateway of ${title}`, () => {
    test("what became of every child is shown, through a sleep of the collector and a crash of the gateway", async ({
      skip,
    }) => {
      const installation = inject("installations")[title];
      // What was not run has not passed.
      if (installation?.isThere !== true) return skip(`not run: ${installation?.reason}`);
      const { python } = installation;
      const [observed, alone] = await Promise.all([observedWork(python, build), unobservedWork(python, build)]);
      const table = tableOf(observed);
      console.log(`\n${title}\n${table}`);
      for (const { goal, endsAs } of PLAN) expect([goal, observed.seen.ends.get(goal)]).toEqual([goal, endsAs(build)]);
      expect(shownWork(observed)).toEqual(expectedWork(build, "gpt-5"));
      expect(documentedPart("testing/hermes-gateways.md", title, table)).toBe(table);
      expectUntouchedStream(observed, alone);
      const running = await expectSleepToBlameNobody(observed);
      await expectCrashToBeTold(observed, running);
    });
  });
}

function expectUntouchedStream({ seen, relay }: ObservedWork, alone: SeenWork): void {
  expect(relay.asked.filter((method) => !READING.has(method))).toEqual([]);
  expect(relay.told.filter(({ sessionId }) => sessionId !== "")).toEqual([]);
  expect(countsByType(seen.frames)).toEqual(countsByType(alone.frames));
}

/** Children run while the collector is suspended for longer than a silence may last. @returns the children that run. */
async function expectSleepToBlameNobody(work: ObservedWork): Promise<readonly string[]> {
  const { model, owner, seen, collector, relay } = work;
  const goals = ["Keep the lights on", "Guard the door"] as const;
  for (const goal of goals) model.script(goal, [{ kind: "answers", text: "It is morning.", after: NEVER }]);
  model.script("Watch over the night.", [
    { kind: "uses_tool", tool: "delegate_task", input: { tasks: goals.map((goal) => ({ goal })) } },
    { kind: "answers", text: "They do." },
  ]);
  await owner.ask("prompt.submit", { session_id: seen.sessionId, text: "Watch over the night." });
  const ids = await Promise.all(goals.map((goal) => startOf(owner, goal)));
  await allRun(collector, ids);
  const shownBefore = collector.stream.seen.length;
  process.kill(collector.process.pid, "SIGSTOP");
  // The fault itself: it lasts this long.
  await delay((FRESHNESS.staleAfter + 3) * 1_000);
  process.kill(collector.process.pid, "SIGCONT");
  for (let looks = 0; looks < 3; looks += 1) await relay.nextCall("delegation.status");
  const since = collector.stream.seen.slice(shownBefore);
  expect(since.filter(({ stale }) => stale !== null)).toEqual([]);
  const running = (await collector.children()).filter(({ state }) => state === "running");
  expect(running.map(({ childId }) => childId)).toEqual(expect.arrayContaining(ids));
  for (const { childId, stale, reconciliation } of running) {
    expect({ childId, stale, reconciliation }).toEqual({ childId, stale: null, reconciliation: null });
  }
  return running.map(({ childId }) => childId);
}

/** The gateway dies with children that run, and comes back as another. */
async function expectCrashToBeTold({ build, model, gateway, collector }: ObservedWork, running: readonly string[]) {
  const before = (await collector.source()).adapter?.epoch;
  const gate = Promise.withResolvers<void>();
  model.script("Begin anew.", [
    { kind: "uses_tool", tool: "delegate_task", input: { goal: "Start over" } },
    { kind: "answers", text: "It begins." },
  ]);
  model.script("Start over", [{ kind: "answers", text: "It has begun.", after: gate.promise }]);
  await gateway.kill();
  await gateway.restart();
  const owner = await connectOwner(gateway);
  const sessionId = await openSession(owner);
  await owner.ask("prompt.submit", { session_id: sessionId, text: "Begin anew." });
  const successor = await startOf(owner, "Start over");
  await allRun(collector, [successor]);
  gate.resolve();
  await endOf(owner, "Start over");
  const { stream, process } = collector;
  const end = await stream.until(
    ({ childId, state }) => childId === successor && state !== "running" && state !== "created" && state !== "starting",
  );
  expect(end.state).toBe(build.replays ? "completed" : "lost");
  expect(running).not.toContain(successor);
  for (const id of running) {
    const lost = await stream.until(({ childId, state }) => childId === id && state === "lost");
    expect(lost).toMatchObject({
      sourceEpoch: before,
      terminalEvidence: "failed_reconciliation",
      facts: { cause: "omitted_by_authority" },
    });
    const changes = changesOf(stream.seen, id);
    const stale = changes.findIndex((change) => change.stale !== null);
    expect(stale).toBeGreaterThan(-1);
    expect(stale).toBeLessThan(changes.findIndex(({ state }) => state === "lost"));
    expect(changes.map(({ state }) => state)).not.toContain("completed");
    const { audit } = await process.get<AuditPage>(`/api/v1/children/${SOURCE}/${id}/audit`);
    expect(audit.map(({ reason, to }) => [reason, to])).toContainEqual(["failed_reconciliation", "lost"]);
  }
  expect(end.sourceEpoch).not.toBe(before);
  expect((await collector.source()).adapter?.epoch).toBe(end.sourceEpoch);
}
