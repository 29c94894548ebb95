import { expect, test } from "vitest";
import { hasBrowser } from "../kit/browser.ts";
import { makeEvent } from "../kit/events.ts";
import { GATEWAY_0_20_6 } from "../kit/hermes/gateway-build.ts";
import { ADMIN_TOKEN, ObservedGateway, SESSION } from "../kit/hermes/observed-gateway.ts";
import { startTestCollector, store } from "../unit/collector/collector-fixture.ts";
import { openBoard } from "./board-page.ts";

const it = test.skipIf(!hasBrowser());
const STATE = `document.querySelector(".child-head .state")?.innerText`;

it("a cancel that the gateway takes is shown as asked for, and the state changes with the evidence (L17, D5)", async () => {
  const observed = await ObservedGateway.start(GATEWAY_0_20_6, { receiver: "cancel: true" });
  const child = observed.gateway.child(SESSION, "sa-0-a").starts();
  await observed.until("sa-0-a", { state: "running", capabilities: { cancel: "known" } });
  const page = await openBoard(observed.collector, "?of=hermes&child=sa-0-a");
  await page.shows("Request cancel");
  await page.evaluate(`document.querySelector(".cancel button").click()`);
  // Whoever may only read is asked for a right, and what is typed is used once and kept nowhere.
  await page.until(`document.activeElement?.type === "password"`);
  expect(observed.gateway.interrupted).toEqual([]);
  await page.evaluate(`{
    document.activeElement.value = ${JSON.stringify(ADMIN_TOKEN)};
    document.querySelector(".admin-token button").click();
  }`);
  await page.shows("cancel requested; its state changes when evidence of that comes");
  expect(observed.gateway.interrupted).toEqual(["sa-0-a"]);
  await page.shows("cancel requested at");
  expect(await page.evaluate(STATE)).toBe("running");
  const kept =
    "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]) + document.body.outerHTML";
  expect(await page.evaluate(kept)).not.toContain(ADMIN_TOKEN);
  child.completes("interrupted");
  await page.until(`${STATE} === "cancelled"`);
  await page.shows("cause interrupted");
});

it("the sources say who observes, what that offers, and who can be asked", async () => {
  const observed = await ObservedGateway.start(GATEWAY_0_20_6);
  observed.gateway.child(SESSION, "sa-0-a").starts();
  await observed.until("sa-0-a", { state: "running" });
  const page = await openBoard(observed.collector, "?view=sources");
  await page.shows("hermes/main (hermes, experimental)");
  const text = (await page.text()).replaceAll(/\s+/g, " ");
  expect(text).toContain("/api/ws: connected since");
  expect(text).toMatch(/replay: yes.*known of its children: /);
  expect(text).toContain("seen there 1 running");
  await observed.server.kill();
  await page.shows("disconnected");
  await page.shows("ECONNREFUSED");
});

it("the sources say what was declared of them, as a claim, and where it differs from what is seen", async () => {
  const collector = await startTestCollector();
  const contract = {
    contractVersion: 1,
    source: "runner",
    sourceEpoch: "epoch-1",
    adapter: { name: "dispatcher" },
    epochPolicy: "unknown",
    capabilities: {
      activity: "known",
      heartbeat: "known",
      snapshot: "unknown",
      cancel: "unknown",
      history: "unknown",
      terminalCause: "unknown",
    },
    events: { transport: "otlp", sequence: "per_child", redaction: "before_emission" },
    snapshot: { authority: "pull", reconnect: "unknown" },
    loss: { requires: [] },
  };
  await store(collector, [
    makeEvent({ state: "created", sequence: 1, capabilities: { heartbeat: "known" } }),
    makeEvent({ kind: "diagnostic", sequence: 2, details: { visibilityContract: contract } as never }),
  ]);
  const page = await openBoard(collector, "?view=sources");
  await page.shows("Declared visibility: differs from what is seen in 1");
  const text = (await page.text()).replaceAll(/\s+/g, " ");
  expect(text).toContain("says to know activity, heartbeat; unknown: history, snapshot, cancel, terminal cause");
  expect(text).toContain("an authority to pull is declared, and the source has no authority here (1 times)");
});
