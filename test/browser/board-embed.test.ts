import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { hasBrowser, startBrowser } from "../kit/browser.ts";
import { makeEvent } from "../kit/events.ts";
import { startProgram } from "../kit/program.ts";
import { store } from "../unit/collector/collector-fixture.ts";
import { openBoard } from "./board-page.ts";
import { startScene } from "./board-scene.ts";

const it = test.skipIf(!hasBrowser());
const HOST = fileURLToPath(new URL("../../examples/embed/host.js", import.meta.url));

it("lives in a host's page: in its own shadow, at its own address, moved by the host, beside a badge of the same data", async () => {
  const { collector } = await startScene();
  const host = startProgram(process.execPath, [HOST, "--collector", collector.apiUrl, "--port", "0"]);
  const url = await host.line((line) => line.startsWith("http://"));
  const page = await startBrowser();
  await page.emulate({ width: 1280, height: 800 });
  await page.open(url);
  const inside = `document.querySelector("agent-lifecycle-board").shadowRoot`;
  await page.until(`${inside}?.querySelector(".board")?.innerText.includes("11 shown = 11 started")`);
  await page.until(`document.querySelector("#badge").textContent === "background work: 8 live, 1 stale"`);
  expect(await page.evaluate(`getComputedStyle(document.querySelector("nav button")).backgroundColor`)).toBe(
    "rgba(0, 0, 0, 0)",
  );
  await page.evaluate(`document.querySelector('[data-look="view=tree"]').click()`);
  await page.until(`${inside}.querySelector("[role=treegrid]")?.innerText.includes("1 live descendant")`);
  expect(await page.evaluate("location.href")).toBe(`${url}/`);
  await store(collector, [makeEvent({ childId: "newcomer", state: "created", sequence: 0, at: 840_000 })]);
  await page.until(`${inside}.querySelector(".board").innerText.includes("newcomer")`);
  await page.until(`document.querySelector("#badge").textContent.startsWith("background work: 9 live")`);
  await page.evaluate(`document.querySelector("agent-lifecycle-board").remove()`);
  expect(page.requests.filter((address) => !address.startsWith(url))).toEqual([]);
});

it("offers to cancel only where that is known, and says what became of asking", async () => {
  const { collector } = await startScene();
  const page = await openBoard(collector, "?of=runner-b&child=ask");
  const button = `[...document.querySelectorAll("button")].find(({ innerText }) => innerText === "Request cancel")`;
  await page.until(`${button} !== undefined`);
  await page.evaluate(`${button}.click()`);
  await page.shows("not requested: it takes a token with the scope admin");
  expect(await page.text()).toContain("running");
  for (const other of ["?of=runner&child=shell", "?of=runner&child=review-1"]) {
    await page.look(other);
    await page.shows("Events and verdicts");
    expect(await page.evaluate(`${button} === undefined`)).toBe(true);
  }
});
