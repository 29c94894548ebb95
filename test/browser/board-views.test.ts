import { VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../kit/browser.ts";
import { makeEvent } from "../kit/events.ts";
import { startTestCollector, store } from "../unit/collector/collector-fixture.ts";
import { equationOf, openBoard } from "./board-page.ts";
import { childIn, startScene } from "./board-scene.ts";

const it = test.skipIf(!hasBrowser());

/** The rows of the list, each as one line. */
const ROWS = `[...document.querySelectorAll(".grid-row")].map((row) => row.innerText.replaceAll(/\\s+/g, " ").trim())`;

describe("Now", () => {
  it("says exactly one sentence and shows no row while no evidence was ever seen (D2)", async () => {
    const page = await openBoard(await startTestCollector());
    await page.shows(VISIBILITY_UNAVAILABLE);
    expect(await page.evaluate("document.querySelector('main').innerText")).toBe(VISIBILITY_UNAVAILABLE);
  });

  it("puts first what needs a person, with literal states, activity, freshness and marks (D1, D4)", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector);
    await page.shows("Needs attention");
    const rows = await page.evaluate<readonly string[]>(ROWS);
    expect(rows.slice(0, 5)).toEqual([
      "Needs attention 3",
      expect.stringMatching(
        /^waiting for 11 min Release planner .*waits on a permission: May I push the tag v2.4.0\?.*heard of 11 min ago progress 11 min ago$/,
      ),
      expect.stringMatching(/^running for 11 min Crawler .*stale since .*complete snapshots no longer list it/),
      expect.stringMatching(/^failed Reviewer review-1 .*cause timeout, exit code 124 ended 11 min ago/),
      "Going on 6",
    ]);
    expect(rows.join("\n")).toMatch(/adopted at .*; nothing is claimed about its life before/);
    expect(rows.join("\n")).toMatch(/provisional: missing reports 1–4/);
    expect(rows.join("\n")).not.toContain("unheard");
  });

  it("keeps a child that was asked to cancel in its state until evidence comes (L17, D5)", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?q=Migrator");
    await page.shows("not confirmed");
    expect((await page.evaluate<readonly string[]>(ROWS))[2]).toMatch(
      /^running .*cancel requested at .*, not confirmed/,
    );
    await store(collector, [
      makeEvent({
        source: "runner-b",
        childId: "ask",
        state: "completed",
        sequence: 3,
        at: 840_000,
        capabilities: { cancel: "known" },
      }),
    ]);
    await page.shows("not honoured");
  });

  it("counts everything, whatever is folded away, filtered or narrowed down", async () => {
    const { collector, clock } = await startScene();
    const page = await openBoard(collector);
    await page.shows("11 shown = 11 started");
    expect(await equationOf(page)).toEqual({ started: 11, sum: 11 });
    await page.look("?q=runner-b");
    await page.shows("3 shown + 8 not matching = 11 started");
    clock.set(200);
    await page.look("");
    await page.shows("8 shown + 3 ended earlier = 11 started");
    await page.look("?state=failed");
    await page.shows("1 shown + 10 not matching = 11 started");
    expect(await equationOf(page)).toEqual({ started: 11, sum: 11 });
  });

  it("keeps the look in the address, for links and for going back", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector);
    await page.shows("Crawler");
    await page.evaluate(`document.querySelector(".term.state-failed").click()`);
    await page.until(`location.search === "?state=failed" && !document.body.innerText.includes("Crawler")`);
    await page.evaluate(`[...document.querySelectorAll("nav a")].find((link) => link.innerText === "Tree").click()`);
    await page.until(`location.search === "?view=tree&state=failed"`);
    await page.evaluate("history.back()");
    await page.until(
      `location.search === "?state=failed" && document.querySelector("[aria-current=page]").innerText === "Now"`,
    );
  });
});

describe("Tree", () => {
  it("groups attempts under one agent and counts who lives below a parent that ended (L06, L13)", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?view=tree");
    await page.shows("1 live descendant");
    const rows = await page.evaluate<readonly string[]>(ROWS);
    expect(rows.find((row) => row.includes("Test runner"))).toMatch(
      /^completed .*1 live descendant.*contradicted: 1 claim after the end/,
    );
    expect(rows.find((row) => row.includes("review-2"))).toMatch(/^running .*attempt 2 .*attempt 1 failed: review-1$/);
    expect(rows.find((row) => row.includes("Release planner"))).toMatch(
      /5 below, 2 live70,150 tokens, \$0.41, 49 tool calls \(3 of 6 reported\)/,
    );
  });

  it("closes and opens a branch by key, and says so to who cannot see it", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?view=tree&root=release");
    await page.shows("Test runner");
    const root = `document.querySelector('[role=row][aria-level="1"]')`;
    await page.evaluate(`document.querySelector("[role=treegrid]").focus()`);
    await page.press("ArrowLeft");
    await page.until(
      `${root}.getAttribute("aria-expanded") === "false" && !document.body.innerText.includes("Test runner")`,
    );
    await page.press("ArrowRight");
    await page.until(
      `${root}.getAttribute("aria-expanded") === "true" && document.body.innerText.includes("Test runner")`,
    );
  });
});

describe("Timeline", () => {
  const LANES = `Object.fromEntries([...document.querySelectorAll(".timeline-row")].map((row) =>
    [row.querySelector("a").innerText, row.querySelector(".timeline-lane svg").getAttribute("aria-label").replaceAll(/ from .*?(?=, [a-z]+ from|$)/g, "")]))`;

  it("draws states, gaps, corrections, staleness and what was claimed after the end", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?view=timeline");
    await page.shows("11 children");
    expect(await page.evaluate(LANES)).toMatchObject({
      "Release planner": "created, starting, running, waiting",
      shell: "created, starting, running, waiting",
      "Test runner": "created, starting, running, completed",
      adopted: "running",
    });
    const marks = `[...document.querySelectorAll(".lane-mark")].map((mark) => mark.classList[1]).sort()`;
    expect(await page.evaluate(marks)).toEqual(["lane-mark-correction", "lane-mark-gap", "lane-mark-late"]);
    expect(await page.evaluate(`document.querySelectorAll(".stale-band").length`)).toBe(1);
    expect(await page.evaluate(`document.querySelectorAll(".live-line").length`)).toBe(11);
  });

  it("rewinds to what was known at an earlier moment, and comes back", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?view=timeline");
    await page.shows("11 children");
    const rewind = (share: number) => `{
      const range = document.querySelector(".rewind input");
      range.value = String(Number(range.min) + (Number(range.max) - Number(range.min)) * ${share});
      range.dispatchEvent(new Event("input", { bubbles: true }));
    }`;
    // Half a minute after the release was created, out of fourteen minutes.
    await page.evaluate(rewind(0.5 / 14));
    await page.shows("as known at");
    expect(await page.evaluate(LANES)).toMatchObject({ "Release planner": "created", "Test runner": "nothing known" });
    expect(await page.text()).toContain("not known then");
    await page.evaluate(
      `[...document.querySelectorAll("button")].find((button) => button.innerText === "Live").click()`,
    );
    await page.shows("as known now");
    expect(await page.evaluate(LANES)).toMatchObject({ "Release planner": "created, starting, running, waiting" });
  });

  it("is moved and zoomed by keys", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?view=timeline");
    await page.shows("11 children");
    const isLive = `document.querySelector("button[aria-pressed]:not(.term)").getAttribute("aria-pressed")`;
    const axis = `document.querySelector(".timeline-axis svg").textContent`;
    await page.evaluate(`document.querySelector(".timeline").focus()`);
    const before = await page.evaluate<string>(axis);
    await page.press("ArrowLeft");
    await page.until(`${isLive} === "false"`);
    await page.press("+");
    await page.until(`${axis} !== ${JSON.stringify(before)}`);
    await page.press("0");
    await page.until(`${isLive} === "true"`);
  });
});

describe("Child", () => {
  it("tells both clocks, what is known and unknown, each event's result and every correction", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?of=runner&child=shell");
    await page.shows("Events and verdicts");
    const text = (await page.text()).replaceAll(/\s+/g, " ");
    expect(text).toMatch(/alive heard of 4 min 0 s ago .* progress 4 min 0 s ago/);
    expect(text).toContain("heartbeat unknown");
    expect(text).toMatch(/running → waiting: an authoritative snapshot said so/);
    expect(text).toMatch(/state_changed running .* applied/);
    await page.look("?of=runner&child=tests");
    await page.shows("terminal_immutable");
    expect(await page.text()).toContain("claimed after the end; changed nothing");
    expect(await page.text()).toContain("contradicted: 1 claim after the end");
  });

  it("copies ids, and is left by Esc", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?of=runner&child=release");
    await page.shows("Release planner");
    expect(await page.evaluate(`document.querySelector("[aria-label='Copy release']") !== null`)).toBe(true);
    await page.press("Escape");
    await page.until(`location.search === "" && document.querySelector("#children") !== null`);
  });

  it("says that nothing is known of a child that nobody reported", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?of=runner&child=nobody");
    await page.shows("Nothing is known: Not found: no evidence of such a child");
  });
});

describe("Sources and Diagnostics", () => {
  it("say how fresh each source is, and what was rejected and why", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "?view=sources");
    await page.shows("snapshot misses");
    const sources = (await page.text()).replaceAll(/\s+/g, " ");
    expect(sources).toMatch(
      /runner children 9, 5 live, 1 stale heard of 3 min ago epochs epoch-1 snapshot misses 1 among live children/,
    );
    await page.look("?view=diagnostics");
    await page.shows("invalid_event");
    const text = await page.text();
    expect(text).toContain("1 child was heard of without any state");
    expect(text).toContain("must have required property");
    for (const code of ["terminal_immutable", "sequence_gap", "state_unknown"]) expect(text).toContain(code);
  });
});

it("shows the same lifecycle when everything that describes the task is taken out of the inputs", async () => {
  const said = {
    activity: "3 of 4 done (75 %)",
    details: { name: "Task", agentType: "planner", resultRef: "x", model: "m", todo: ["all done"], percent: 100 },
  };
  const lifecycles = await Promise.all(
    [said, {}].map(async (members) => {
      const collector = await startTestCollector();
      const states = ["created", "starting", "running", "waiting", "completed", "failed", "cancelled"] as const;
      await store(
        collector,
        states.flatMap((state, index) => childIn(`child-${index}`, state, members)),
      );
      const page = await openBoard(collector);
      await page.shows("7 shown = 7 started");
      return page.evaluate(`[
        document.querySelector(".counts").innerText,
        ...[...document.querySelectorAll(".grid-row")].map((row) =>
          [row.querySelector("h2, .state").innerText, row.querySelector("a")?.search, row.querySelector(".cell-fresh")?.innerText.replaceAll(/\\d+ \\w+ ago/g, "ago")])
      ]`);
    }),
  );
  expect(lifecycles[0]).toEqual(lifecycles[1]);
});
