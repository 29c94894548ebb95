// The board: lists the children once, then follows the stream. It shows what the collector knows and claims nothing else.
import { clockWords, createRow } from "./board-rows.js";
import { getJson, readStream, rememberToken, TokenRequired } from "./board-stream.js";
import { equationWords, groupOf, inLineageOrder, keyOf, marksWords, matches } from "./board-words.js";

const UNAVAILABLE = "Background work visibility unavailable; state unknown.";
const GROUPS = ["attention", "running", "finished"];
/** Children that are listed at the start; the counts are always of all. */
const LISTS = [
  { states: "created,starting,running,waiting", most: 5_000 },
  { states: "failed,lost", most: 500 },
  { states: "completed,cancelled", most: 500 },
];
const ROWS_AT_ONCE = 300;
const RENDER_INTERVAL_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

const children = new Map();
const rows = new Map();
const shownRows = Object.fromEntries(GROUPS.map((group) => [group, ROWS_AT_ONCE]));
let summary;
let position = 0;
let filter = "";
/** The collector's clock minus this page's; the clocks on the board are the collector's. */
let clockOffset = 0;
/** Set while the stream is broken: the clocks stand still there. */
let frozenAt;
let isRenderPlanned = false;

const byId = (id) => document.getElementById(id);
const collectorNow = () => frozenAt ?? performance.now() + clockOffset;

function takeSummary(taken) {
  summary = taken;
  clockOffset = Date.parse(taken.at) - performance.now();
}

function takeChild(child) {
  if (child.state === null) return;
  const key = keyOf(child);
  children.set(key, child);
  rows.delete(key);
}

async function loadAll() {
  const loaded = [];
  const positions = [];
  for (const { states, most } of LISTS) {
    let cursor = "";
    let count = 0;
    do {
      const page = await getJson(`/api/v1/children?state=${states}&limit=500${cursor}`);
      loaded.push(...page.children);
      positions.push(page.position);
      count += page.children.length;
      cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
    } while (cursor !== "" && count < most);
  }
  children.clear();
  rows.clear();
  for (const child of loaded) takeChild(child);
  takeSummary(await getJson("/api/v1/summary"));
  // What changed while the pages were read comes again from here; taking it twice is harmless.
  position = Math.min(...positions);
  planRender();
}

async function follow() {
  let reload = false;
  await readStream(
    position,
    () => setConnection("live"),
    (event, data, id) => {
      if (id !== undefined) position = Number(id);
      if (event === "child") takeChild(data);
      if (event === "summary") takeSummary(data);
      if (event === "resync") reload = true;
      planRender();
      // Thrown out of the reader: the children are listed anew, and the stream begins after them.
      if (reload) throw new Resync();
    },
  );
}

class Resync extends Error {}

async function run() {
  let pauseMs = 500;
  let mustLoad = true;
  for (;;) {
    try {
      if (mustLoad) await loadAll();
      mustLoad = false;
      const openedAt = performance.now();
      try {
        await follow();
      } finally {
        if (performance.now() - openedAt > LONGEST_PAUSE_MS) pauseMs = 500;
      }
    } catch (error) {
      if (error instanceof TokenRequired) return askForToken(error.message);
      mustLoad ||= error instanceof Resync;
      if (error instanceof Resync) continue;
      setConnection("broken");
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
  }
}

function askForToken(problem) {
  setConnection("locked");
  byId("token-problem").textContent = problem;
  byId("token-form").hidden = false;
  byId("token").focus();
}

function setConnection(connection) {
  const status = byId("connection");
  if (connection === "live") frozenAt = undefined;
  if (connection === "broken") frozenAt ??= collectorNow();
  document.documentElement.dataset.connection = connection;
  status.dataset.connection = connection;
  status.textContent = {
    live: "Live",
    locked: "A token is needed",
    broken:
      summary === undefined
        ? "The collector does not answer. Trying again…"
        : `Connection lost. This is what was known at ${clockWords(new Date(collectorNow()).toISOString())}; all clocks stand still. Trying again…`,
  }[connection];
}

function planRender() {
  if (isRenderPlanned) return;
  isRenderPlanned = true;
  setTimeout(() => {
    isRenderPlanned = false;
    render();
  }, RENDER_INTERVAL_MS);
}

function render() {
  if (summary === undefined) return;
  const { evidenceSeen } = summary;
  byId("unavailable").hidden = evidenceSeen;
  byId("unavailable").textContent = evidenceSeen ? "" : UNAVAILABLE;
  byId("counts").hidden = !evidenceSeen;
  byId("children").hidden = !evidenceSeen;
  if (!evidenceSeen) {
    for (const group of GROUPS) renderGroup(group, []);
    return;
  }
  byId("equation").textContent = equationWords(summary);
  byId("marks").textContent = marksWords(summary);
  const grouped = Object.fromEntries(GROUPS.map((group) => [group, []]));
  for (const child of children.values()) if (matches(child, filter)) grouped[groupOf(child)].push(child);
  for (const group of GROUPS) renderGroup(group, grouped[group]);
  renderCut();
  tick();
}

function renderGroup(group, members) {
  const section = byId(group);
  section.querySelector(".count").textContent = `(${members.length})`;
  const ordered = inLineageOrder(members);
  const shown = ordered.slice(0, shownRows[group]).map(({ child, depth }) => rowOf(child, depth));
  reconcile(section.querySelector("ul"), shown);
  const more = section.querySelector(".more");
  more.hidden = ordered.length <= shown.length;
  more.textContent = `Show ${Math.min(ROWS_AT_ONCE, ordered.length - shown.length)} more`;
}

function rowOf(child, depth) {
  const key = keyOf(child);
  const known = rows.get(key);
  if (known !== undefined && known.depth === depth) return known;
  const row = { ...createRow(child, depth), depth };
  rows.set(key, row);
  return row;
}

/** Makes the list hold these rows in this order, and moves none that stands right already. */
function reconcile(list, shown) {
  const wanted = new Set(shown.map((row) => row.element));
  for (const present of [...list.children]) if (!wanted.has(present)) present.remove();
  let next = list.firstElementChild;
  for (const { element } of shown) {
    if (element === next) next = next.nextElementSibling;
    else list.insertBefore(element, next);
  }
}

function renderCut() {
  const missing = summary.started - children.size;
  byId("cut").hidden = missing <= 0;
  byId("cut").textContent = `${missing} older children are counted above and not listed here.`;
}

function tick() {
  const now = collectorNow();
  for (const row of rows.values()) if (row.element.isConnected) row.setNow(now);
}

byId("filter").addEventListener("input", (event) => {
  filter = event.target.value.trim();
  planRender();
});
for (const group of GROUPS) {
  byId(group)
    .querySelector(".more")
    .addEventListener("click", () => {
      shownRows[group] += ROWS_AT_ONCE;
      planRender();
    });
}
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  rememberToken(byId("token").value);
  byId("token").value = "";
  byId("token-form").hidden = true;
  void run();
});
setInterval(tick, 1_000);
void run();
