import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { LifecycleClient } from "@agent-lifecycle/collector/client";
import { encodeLogsProtobuf, type LifecycleEvent, normalizeEvent } from "@agent-lifecycle/proto";
import { hasBrowser, launchBrowser } from "../../kit/browser-process.ts";
import { HttpClient } from "../load/http-client.ts";
import type { Figure } from "../measure/figure.ts";
import { quantile } from "../measure/statistics.ts";
import { startCollector } from "../processes/collector.ts";
import type { ScenarioContext } from "../scenario.ts";

const EVENTS_PER_SECOND = 1_000;
/** As many as fit on the screen: every one of them is drawn. */
const CHILDREN = 10;
const STREAM = "the stream, read by a program";
const BURST_PER_SECOND = 5_000;
/** Rows of the board during a burst: every one of them changes every two seconds. */
const CROWD = 10_000;
/** Events of one request: ten requests a second are few, and hold all others up. */
const STEP_MS = 10;

/**
 * From when a producer says something to when the board has drawn it, in a real browser, while 1,000 events a second come.
 * What a newer event of the same child replaced before it was drawn is not counted: it was never on the screen. All clocks
 * are this machine's. Then how long the tab stands still at the most while 5,000 of 10,000 rows change every second.
 */
export async function measureBoard({ quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  if (!hasBrowser()) throw new Error("there is no browser to draw the board");
  const stretchMs = quick ? 3_000 : 10_000;
  const rounds = quick ? 2 : 3;
  const collector = await startCollector(join(folder, "collector.db"));
  const producer = new Producer(collector.logsUrl, CHILDREN, "child");
  const crowd = new Producer(collector.logsUrl, CROWD, "one of many");
  const browser = await launchBrowser(join(folder, "profile"));
  const stopped = new AbortController();
  const read = readStream(collector.apiUrl, stopped.signal);
  try {
    await producer.begin();
    await browser.page.emulate({ width: 1280, height: 900 });
    await browser.page.open(collector.apiUrl);
    await browser.page.until(`document.querySelectorAll(".grid-row.child").length === ${CHILDREN}`);
    await browser.page.evaluate(WATCH_SCREEN);
    const drawn: (readonly number[])[] = [];
    const streamed: (readonly number[])[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await producer.say(EVENTS_PER_SECOND, stretchMs);
      drawn.push(await browser.page.evaluate<readonly number[]>("drawnAges.splice(0)"));
      streamed.push(read.ages.splice(0));
    }
    const figure = (name: string, share: number): Figure => ({
      what: `event to screen, ${EVENTS_PER_SECOND.toLocaleString("en-US")} events/s, ${name}`,
      unit: "ms",
      samples: drawn.map((ages) => quantile(ages, share)),
      baseline: { name: STREAM, samples: streamed.map((ages) => quantile(ages, share)) },
    });
    await crowd.begin();
    await browser.page.until(`document.body.innerText.includes("${CROWD + CHILDREN} started")`);
    await browser.page.evaluate(WATCH_FRAMES);
    const still: number[] = [];
    const busy: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await browser.page.evaluate("longestFrame()");
      await delay(stretchMs);
      still.push(await browser.page.evaluate<number>("longestFrame()"));
      await crowd.say(BURST_PER_SECOND, stretchMs);
      busy.push(await browser.page.evaluate<number>("longestFrame()"));
    }
    return [
      figure("p50", 0.5),
      { ...figure("p99", 0.99), budget: "≤ 50 ms" },
      {
        what: `longest time without a frame, ${BURST_PER_SECOND.toLocaleString("en-US")} updates/s, ${CROWD.toLocaleString("en-US")} rows`,
        unit: "ms",
        samples: busy,
        baseline: { name: "the same board when nothing comes", samples: still },
        budget: "< 100 ms",
      },
    ];
  } finally {
    stopped.abort();
    await read.ended;
    producer.close();
    crowd.close();
    await browser.close();
    await collector.server.stop();
  }
}

/** Keeps, of each activity that appears on the screen, how old it was when the frame with it was begun. */
const WATCH_SCREEN = `{
  window.drawnAges = [];
  const shown = new Map();
  const look = () => {
    const now = Date.now();
    for (const row of document.querySelectorAll(".grid-row.child")) {
      const said = /said (\\d+)/.exec(row.textContent)?.[1];
      const child = row.querySelector("a").textContent;
      if (said !== undefined && shown.get(child) !== said) {
        shown.set(child, said);
        window.drawnAges.push(now - Number(said));
      }
    }
    requestAnimationFrame(look);
  };
  look();
}`;

/** Keeps the longest time between two frames since it was last asked for. */
const WATCH_FRAMES = `{
  let longest = 0;
  let last = performance.now();
  const frame = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.longestFrame = () => {
    const found = longest;
    longest = 0;
    return found;
  };
}`;

interface StreamReading {
  readonly ages: number[];
  readonly ended: Promise<void>;
}

function readStream(url: string, signal: AbortSignal): StreamReading {
  const ages: number[] = [];
  const read = async (): Promise<void> => {
    for await (const { children } of new LifecycleClient({ url }).changes(0, signal)) {
      const now = Date.now();
      for (const { activity } of children) {
        const said = /said (\d+)/.exec(activity ?? "")?.[1];
        if (said !== undefined) ages.push(now - Number(said));
      }
    }
  };
  return { ages, ended: read().catch(() => {}) };
}

/** Children that say when they said it. */
class Producer {
  readonly #url: string;
  readonly #client = new HttpClient(8);
  readonly #name: string;
  /** The sequence of each child. */
  readonly #sequences: number[];
  #next = 0;

  constructor(url: string, children: number, name: string) {
    this.#url = url;
    this.#name = name;
    this.#sequences = Array.from({ length: children }, () => -1);
  }

  async begin(): Promise<void> {
    const births = this.#sequences.map((_, child) => this.#event(child, "created"));
    for (let start = 0; start < births.length; start += 500) await this.#send(births.slice(start, start + 500));
  }

  /** So many events every ten milliseconds, one child after the other, whatever the answers take. */
  async say(eventsPerSecond: number, durationMs: number): Promise<void> {
    const startedAt = performance.now();
    const sending: Promise<void>[] = [];
    const events = (eventsPerSecond * STEP_MS) / 1_000;
    for (let step = 0; step * STEP_MS < durationMs; step += 1) {
      await delay(Math.max(0, startedAt + step * STEP_MS - performance.now()));
      sending.push(this.#send(Array.from({ length: events }, () => this.#event(this.#nextChild()))));
    }
    await Promise.all(sending);
  }

  #nextChild(): number {
    this.#next = (this.#next + 1) % this.#sequences.length;
    return this.#next;
  }

  close(): void {
    this.#client.close();
  }

  async #send(events: readonly LifecycleEvent[]): Promise<void> {
    const body = encodeLogsProtobuf({
      resourceAttributes: { "service.name": "bench" },
      records: events.map((event) => ({ event, emittedAtMs: Date.now() })),
    });
    await this.#client.post(this.#url, "application/x-protobuf", Buffer.from(body));
  }

  #event(child: number, state?: "created"): LifecycleEvent {
    const childId = `${this.#name} ${child}`;
    const sequence = (this.#sequences[child] ?? -1) + 1;
    this.#sequences[child] = sequence;
    const normalized = normalizeEvent({
      schemaVersion: 1,
      eventId: `${childId}/${sequence}`,
      source: "bench",
      sourceEpoch: "1",
      childId,
      lineage: { rootChildId: childId, attempt: 0, external: false },
      kind: state ?? "activity",
      ...(state === undefined ? { activity: `said ${Date.now()}` } : { state }),
      observedAt: new Date().toISOString(),
      sequence,
    });
    if (!normalized.ok) throw new Error(JSON.stringify(normalized.diagnostic));
    return normalized.event;
  }
}
