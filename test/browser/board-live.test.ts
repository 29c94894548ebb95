import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../kit/browser.ts";
import { closedPort } from "../kit/closed-port.ts";
import { makeEvent } from "../kit/events.ts";
import { startApi, startTestCollector, store } from "../unit/collector/collector-fixture.ts";
import { IS_INTERRUPTED, IS_LIVE, openBoard } from "./board-page.ts";
import { childIn, sceneClock } from "./board-scene.ts";

const it = test.skipIf(!hasBrowser());

describe("an interrupted connection", () => {
  it("is said, freezes every clock, and ends in what is so by then (L05)", async () => {
    const clock = sceneClock();
    const collector = await startTestCollector({}, { clock });
    await store(collector, childIn("worker", "running"));
    clock.set(3);
    const port = await closedPort();
    const first = await startApi(collector, { port }, { clock });
    const page = await openBoard({ apiUrl: first.url() });
    await page.shows("heard of 3 min ago");
    await first.shutdown();
    await page.until(IS_INTERRUPTED);
    await page.shows("all clocks stand still");
    const ages = `[...document.querySelectorAll(".cell-fresh")].map((cell) => cell.innerText).join()`;
    const frozen = await page.evaluate<string>(ages);
    // Hours pass, and it ends meanwhile; the page is told nothing of either.
    clock.set(300);
    await page.evaluate(
      "new Promise((resolve) => { let left = 90; const step = () => (left-- ? requestAnimationFrame(step) : resolve()); step(); })",
    );
    expect(await page.evaluate(ages)).toBe(frozen);
    await store(collector, [makeEvent({ childId: "worker", state: "completed", sequence: 3, at: 240_000 })]);
    await startApi(collector, { port }, { clock });
    await page.until(`${IS_LIVE} && document.querySelector(".grid-row.child")?.innerText.includes("completed")`);
    expect(await page.text()).not.toContain("running for");
  });
});

const MANY = 10_000;

function* inChunks<Entry>(entries: readonly Entry[], size: number): Generator<readonly Entry[]> {
  for (let start = 0; start < entries.length; start += size) yield entries.slice(start, start + size);
}

describe("many children", () => {
  it("are all counted and reachable, and only those in sight are drawn", async () => {
    const collector = await startTestCollector();
    const children = Array.from({ length: MANY }, (_, index) =>
      makeEvent({
        childId: `child ${index}`,
        state: "created",
        sequence: 0,
        at: index,
        details: { name: `Agent ${index}` },
      }),
    );
    for (const chunk of inChunks(children, 1_000)) await store(collector, chunk);
    const page = await openBoard(collector);
    await page.shows("10000 shown = 10000 started");
    const drawn = `document.querySelectorAll(".grid-row").length`;
    expect(await page.evaluate(drawn)).toBeLessThan(60);
    expect(await page.evaluate(`document.querySelector("[role=grid]").getAttribute("aria-rowcount")`)).toBe(
      String(MANY + 3),
    );
    await page.evaluate(`document.querySelector("[role=grid]").focus()`);
    await page.press("End");
    await page.shows("Agent 0");
    expect(await page.evaluate(drawn)).toBeLessThan(60);
    await page.press("Home");
    await page.shows(`Agent ${MANY - 1}`);

    await page.evaluate(`{
      window.drawings = 0;
      window.frames = 0;
      new MutationObserver(() => { window.drawings += 1; }).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
      const count = () => { window.frames += 1; requestAnimationFrame(count); };
      count();
    }`);
    const burst: LifecycleEvent[] = [];
    for (let round = 1; round <= 3; round += 1) {
      for (let index = 0; index < 5_000; index += 1) {
        burst.push(
          makeEvent({
            childId: `child ${MANY - 1 - index}`,
            kind: "activity",
            activity: `round ${round}`,
            sequence: round,
            at: MANY + round,
          }),
        );
      }
    }
    for (const chunk of inChunks(burst, 2_500)) await store(collector, chunk);
    await page.until(`document.querySelector(".grid-row.child")?.innerText.includes("round 3")`);
    const { drawings, frames } = await page.evaluate<{ readonly drawings: number; readonly frames: number }>(
      "({ drawings, frames })",
    );
    expect(drawings).toBeGreaterThan(0);
    expect(drawings).toBeLessThanOrEqual(frames);
    await page.shows("10000 shown = 10000 started");
  }, 120_000);
});
