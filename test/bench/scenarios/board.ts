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

/**
 * From when a producer says something to when the board has drawn it, in a real browser, while 1,000 events a second come.
 * What a newer event of the same child replaced before it was drawn is not counted: it was never on the screen. All clocks
 * are this machine's.
 */
export async function measureBoard({ quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  if (!hasBrowser()) throw new Error("there is no browser to draw the board");
  const stretchMs = quick ? 3_000 : 10_000;
  const rounds = quick ? 2 : 3;
  const collector = await startCollector(join(folder, "collector.db"));
  const producer = new Producer(collector.logsUrl);
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
      await producer.say(stretchMs);
      drawn.push(await browser.page.evaluate<readonly number[]>("drawnAges.splice(0)"));
      streamed.push(read.ages.splice(0));
    }
    const figure = (name: string, share: number): Figure => ({
      what: `event to screen, ${EVENTS_PER_SECOND.toLocaleString("en-US")} events/s, ${name}`,
      unit: "ms",
      samples: drawn.map((ages) => quantile(ages, share)),
      baseline: { name: STREAM, samples: streamed.map((ages) => quantile(ages, share)) },
    });
    return [figure("p50", 0.5), { ...figure("p99", 0.99), budget: "≤ 50 ms" }];
  } finally {
    stopped.abort();
    await read.ended;
    producer.close();
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
  #sequence = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async begin(): Promise<void> {
    await this.#send(Array.from({ length: CHILDREN }, (_, child) => this.#event(child, "created")));
  }

  /** Ten events every ten milliseconds, whatever the answers take. */
  async say(durationMs: number): Promise<void> {
    const startedAt = performance.now();
    const sending: Promise<void>[] = [];
    const stepMs = (CHILDREN / EVENTS_PER_SECOND) * 1_000;
    for (let step = 0; step * stepMs < durationMs; step += 1) {
      await delay(Math.max(0, startedAt + step * stepMs - performance.now()));
      this.#sequence += 1;
      sending.push(this.#send(Array.from({ length: CHILDREN }, (_, child) => this.#event(child))));
    }
    await Promise.all(sending);
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
    const childId = `child ${child}`;
    const normalized = normalizeEvent({
      schemaVersion: 1,
      eventId: `${childId}/${this.#sequence}`,
      source: "bench",
      sourceEpoch: "1",
      childId,
      lineage: { rootChildId: childId, attempt: 0, external: false },
      kind: state ?? "activity",
      ...(state === undefined ? { activity: `said ${Date.now()}` } : { state }),
      observedAt: new Date().toISOString(),
      sequence: this.#sequence,
    });
    if (!normalized.ok) throw new Error(JSON.stringify(normalized.diagnostic));
    return normalized.event;
  }
}
