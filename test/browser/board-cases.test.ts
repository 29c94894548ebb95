import { expect, test } from "vitest";
import { hasBrowser } from "../kit/browser.ts";
import { makeEvent } from "../kit/events.ts";
import { startTestCollector, store } from "../unit/collector/collector-fixture.ts";
import { equationOf, openBoard } from "./board-page.ts";
import { childIn } from "./board-scene.ts";

const it = test.skipIf(!hasBrowser());
const ROW = (name: string): string =>
  `[...document.querySelectorAll(".grid-row.child")].find((row) => row.innerText.includes(${JSON.stringify(name)}))?.innerText.replaceAll(/\\s+/g, " ")`;

it("a root that waits on a child is live, and no person is called for it (L11)", async () => {
  const collector = await startTestCollector();
  await store(collector, [
    ...childIn("root", "waiting", { details: { waitingOn: { kind: "child", childId: "worker" } } }),
    ...childIn("worker", "running", { lineage: { rootChildId: "root", parentChildId: "root" } }),
  ]);
  const page = await openBoard(collector);
  await page.shows("2 shown = 2 started");
  expect((await page.text()).replaceAll(/\s+/g, " ")).toContain("Needs attention 0");
  expect(await page.evaluate(ROW("root"))).toMatch(/^waiting .*waits on child worker/);
  // Its work is over: now it waits for its user.
  await store(collector, [
    makeEvent({
      childId: "worker",
      state: "completed",
      sequence: 3,
      at: 300_000,
      lineage: { rootChildId: "root", parentChildId: "root" },
    }),
    makeEvent({ childId: "root", state: "running", sequence: 4, at: 305_000 }),
    makeEvent({
      childId: "root",
      state: "waiting",
      sequence: 5,
      at: 330_000,
      details: { waitingOn: { kind: "user" } },
    }),
  ]);
  await page.until(`document.querySelector("#group-attention .count")?.innerText === "1"`);
  expect(await page.evaluate(ROW("root"))).toMatch(/^waiting .*waits on the user/);
});

it("what was lost stays lost, with what was claimed later beside it, counted once (L29a)", async () => {
  const collector = await startTestCollector();
  await store(collector, childIn("gone", "lost"));
  const page = await openBoard(collector);
  await page.until(`${ROW("gone")}?.startsWith("lost")`);
  await store(collector, [
    makeEvent({ childId: "gone", state: "running", sequence: 4, at: 200_000 }),
    makeEvent({ childId: "gone", state: "completed", sequence: 5, at: 240_000 }),
  ]);
  await page.shows("contradicted: 2 claims after the end");
  expect(await page.evaluate(ROW("gone"))).toMatch(
    /^lost .*contradicted: 2 claims after the end, the last at .*, saying completed/,
  );
  expect(await equationOf(page)).toEqual({ started: 1, sum: 1 });
  await page.look("?of=runner&child=gone");
  await page.shows("claimed after the end; changed nothing");
});

it("a tree whose root ended first stays live until its last member ends (L32c)", async () => {
  const collector = await startTestCollector();
  const member = { lineage: { rootChildId: "root", parentChildId: "root" } };
  await store(collector, [...childIn("root", "completed"), ...childIn("late", "running", member)]);
  const page = await openBoard(collector, "?view=tree");
  await page.until(`${ROW("root")}?.includes("1 live descendant")`);
  expect(await page.evaluate(ROW("late"))).toMatch(/^running/);
  await store(collector, [makeEvent({ childId: "late", state: "completed", sequence: 3, at: 300_000, ...member })]);
  await page.until(`${ROW("late")}?.startsWith("completed") && !${ROW("root")}.includes("live descendant")`);
});

it("a report that came late and closed a gap leaves the state and the mark as they are to be (L32a)", async () => {
  const collector = await startTestCollector();
  await store(collector, [
    ...childIn("worker", "running"),
    makeEvent({ childId: "worker", state: "waiting", sequence: 5, at: 200_000 }),
  ]);
  const page = await openBoard(collector);
  await page.shows("provisional: missing reports 3–4");
  await store(collector, [
    makeEvent({ childId: "worker", kind: "activity", activity: "one", sequence: 3, at: 190_000 }),
    makeEvent({ childId: "worker", kind: "heartbeat", sequence: 4, at: 195_000 }),
  ]);
  await page.until(`${ROW("worker")}?.startsWith("waiting") && !${ROW("worker")}.includes("provisional")`);
});
