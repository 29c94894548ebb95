import { createAccessControl } from "@agent-lifecycle/collector/parts";
import { expect, test } from "vitest";
import { type BrowserPage, hasBrowser, startBrowser } from "../kit/browser.ts";
import { makeEvent } from "../kit/events.ts";
import { startApi, startTestCollector, store } from "../unit/collector/collector-fixture.ts";

const it = test.skipIf(!hasBrowser());

const READ_TOKEN = "token-of-the-wall-0123456789";
const INGEST_TOKEN = "token-of-the-runner-0123456789";

async function startGuardedBoard() {
  const collector = await startTestCollector();
  const access = createAccessControl({
    tokens: [
      { name: "wall", token: READ_TOKEN, scopes: ["read"] },
      { name: "runner", token: INGEST_TOKEN, scopes: ["ingest"] },
    ],
  });
  const server = await startApi(collector, { access });
  return { collector, url: server.url(), access, page: await startBrowser() };
}

const CONNECTION = `document.getElementById("connection")?.dataset.connection`;
const IS_LOCKED = `${CONNECTION} === "refused" && document.getElementById("token-form") !== null`;
const IS_LIVE = `${CONNECTION} === "live"`;

async function enter(page: BrowserPage, token: string): Promise<void> {
  await page.evaluate(`{
    document.getElementById("token").value = ${JSON.stringify(token)};
    document.querySelector("#token-form button").click();
  }`);
}

it("asks for its token, shows and follows the children with it, and leaves it in no address", async () => {
  const { collector, url, page } = await startGuardedBoard();
  await store(collector, [makeEvent({ childId: "first", state: "created", sequence: 1 })]);
  await page.open(url);
  await page.until(IS_LOCKED);
  expect(await page.evaluate("document.body.innerText")).not.toContain("first");

  await enter(page, READ_TOKEN);
  await page.until(`${IS_LIVE} && document.body.innerText.includes("first")`);
  await store(collector, [makeEvent({ childId: "second", state: "created", sequence: 1 })]);
  await page.until(`document.body.innerText.includes("second")`);

  expect(await page.evaluate("location.href")).toBe(`${url}/`);
  expect(page.requests.length).toBeGreaterThan(5);
  expect(page.requests.filter((address) => address.includes(READ_TOKEN))).toEqual([]);
  expect(page.requests.filter((address) => !address.startsWith(url))).toEqual([]);
  expect(await page.evaluate("document.cookie + JSON.stringify(localStorage)")).toBe("{}");
  expect(await page.evaluate("document.documentElement.outerHTML")).not.toContain(READ_TOKEN);
  expect(page.console.join("\n")).not.toContain(READ_TOKEN);

  // The tab keeps it; another one has none.
  await page.open(url);
  await page.until(IS_LIVE);
  await page.evaluate("sessionStorage.clear()");
  await page.open(url);
  await page.until(IS_LOCKED);
});

it("says what is wrong with another token, and asks again", async () => {
  const { url, page } = await startGuardedBoard();
  const problem = `document.getElementById("token-problem")?.textContent`;
  await page.open(url);
  await page.until(IS_LOCKED);
  expect(await page.evaluate(problem)).toBe("");
  await enter(page, "wrong");
  await page.until(`${IS_LOCKED} && ${problem} === "This token is not known here."`);
  await enter(page, INGEST_TOKEN);
  await page.until(`${IS_LOCKED} && ${problem} === "This token is not for reading."`);
  await enter(page, READ_TOKEN);
  await page.until(IS_LIVE);
});

it("shows what a child says as text and runs none of it", async () => {
  const { collector, url, page } = await startGuardedBoard();
  const markup = `<img src=x onerror="document.title='taken over'"><script>document.title='taken over'</script>`;
  await store(collector, [
    makeEvent({ childId: markup, state: "created", sequence: 1, details: { name: markup } }),
    makeEvent({ childId: markup, state: "starting", sequence: 2, activity: markup }),
  ]);
  await page.open(url);
  await page.until(IS_LOCKED);
  await enter(page, READ_TOKEN);
  await page.until(`document.body.innerText.includes("onerror")`);
  expect(await page.evaluate("document.title")).toBe("Agent lifecycle");
  expect(await page.evaluate("document.querySelectorAll('main img, main script').length")).toBe(0);
});

it("lets nothing of another origin, no inline script and no markup into the page", async () => {
  const { url, page } = await startGuardedBoard();
  await page.open(url);
  await page.until(IS_LOCKED);
  const outcome = await page.evaluate(`(async () => {
    const violated = [];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => violated.push(effectiveDirective));
    const attempt = async (run) => {
      try { await run(); return "let in"; } catch { return "refused"; }
    };
    const markup = await attempt(() => { document.body.innerHTML = "<b>a</b>"; });
    const code = await attempt(() => eval("1"));
    const other = await attempt(() => fetch("http://localhost:1/"));
    const style = document.createElement("style");
    style.textContent = "body { color: red }";
    document.head.append(style);
    const handler = await attempt(() => document.body.setAttribute("onclick", "document.title = 'taken over'"));
    // Violations are told in a task of their own.
    while (!["connect-src", "style-src-elem"].every((wanted) => violated.includes(wanted))) {
      await new Promise(requestAnimationFrame);
    }
    return { markup, code, handler, other, title: document.title };
  })()`);
  const refused = "refused";
  expect(outcome).toEqual({
    markup: refused,
    code: refused,
    handler: refused,
    other: refused,
    title: "Agent lifecycle",
  });
});
