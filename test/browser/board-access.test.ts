import axe from "axe-core";
import { describe, expect, test } from "vitest";
import { hasBrowser, type Screen } from "../kit/browser.ts";
import { DESK, openBoard, TELEPHONE } from "./board-page.ts";
import { startScene } from "./board-scene.ts";

const it = test.skipIf(!hasBrowser());

const LOOKS = ["", "?view=tree", "?view=timeline", "?of=runner&child=release", "?view=sources", "?view=diagnostics"];
const SCREENS: readonly (readonly [string, Screen])[] = [
  ["light", DESK],
  ["dark", { ...DESK, colourScheme: "dark" }],
  ["telephone", { ...TELEPHONE, colourScheme: "dark", reducedMotion: true }],
];

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly string[];
}

describe.each(SCREENS)("on a %s screen", (_name, screen) => {
  it("no view has an accessibility finding of weight, and none is wider than the screen", async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector, "", screen);
    for (const look of LOOKS) {
      await page.look(look);
      await page.until(`document.querySelector(".grid-row, .timeline-row, .panel, table") !== null`);
      await page.evaluate(axe.source);
      const found = await page.evaluate<
        readonly Finding[]
      >(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
        violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html.slice(0, 200)) })))`);
      expect([look, found.filter(({ impact }) => impact === "serious" || impact === "critical")]).toEqual([look, []]);
      const overflow = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      expect([look, overflow]).toEqual([look, 0]);
    }
  }, 60_000);
});

it("everything is reached by the keyboard alone: search, list, child, views, help", async () => {
  const { collector } = await startScene();
  const page = await openBoard(collector);
  await page.shows("Crawler");
  await page.press("/");
  await page.until(`document.activeElement.id === "filter"`);
  for (const key of "crawler") await page.press(key);
  await page.until(`location.search === "?q=crawler" && !document.body.innerText.includes("Fetcher")`);
  for (let step = 0; step < 12; step += 1) {
    await page.press("Tab");
    if (await page.evaluate(`document.activeElement.getAttribute("role") === "grid"`)) break;
  }
  const active = `document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.innerText ?? ""`;
  await page.until(`(${active}).includes("Crawler")`);
  await page.press("Enter");
  await page.until(
    `document.querySelector(".child-head h2")?.innerText === "Crawler" && document.activeElement.tagName === "H2"`,
  );
  await page.press("Escape");
  await page.until(`document.querySelector("#children") !== null`);
  for (const [key, view] of [
    ["2", "tree"],
    ["3", "timeline"],
    ["4", "sources"],
    ["5", "diagnostics"],
  ]) {
    await page.press(String(key));
    await page.until(`new URLSearchParams(location.search).get("view") === "${view}"`);
  }
  await page.press("?");
  await page.until(`document.querySelector("dialog[open]") !== null`);
  await page.press("Escape");
  await page.until(`document.querySelector("dialog[open]") === null`);
});
