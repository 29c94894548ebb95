import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LifecycleCounters } from "@agent-lifecycle/sdk";
import { expect, it } from "vitest";
import { startHost } from "../e2e/sdk/host-process.ts";
import { closedPort } from "../kit/closed-port.ts";
import { startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { expectVerified } from "../kit/expect-verified.ts";

const MEMBERS = 50;
const EVENTS = 2_000;
const AT_ONCE = 4;
/** After how many members the collector is killed, and after how many it comes back. */
const OUTAGES = [
  { from: 10, to: 18 },
  { from: 30, to: 36 },
];

function segmentsIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
}

it("100,000 events of 50 short-lived processes all arrive, once each, with the collector killed twice in between", {
  timeout: 600_000,
}, async () => {
  const folder = temporaryDirectory();
  const database = join(folder, "collector.db");
  const spool = join(folder, "spool");
  const port = await closedPort();
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, AGENT_LIFECYCLE_SPOOL: spool };
  const start = () => startCollector(database, ["--ingest-port", String(port)]);
  let collector = await start();
  let isUp = true;
  let begun = 0;
  let ended = 0;
  const counters: LifecycleCounters[] = [];

  async function keepCollector(): Promise<void> {
    const outage = OUTAGES.find(({ from, to }) => ended >= from && ended < to);
    if (outage !== undefined && isUp) {
      isUp = false;
      await collector.endBy("SIGKILL");
    } else if (outage === undefined && !isUp) {
      isUp = true;
      collector = await start();
    }
  }
  async function runMembers(): Promise<void> {
    while (begun < MEMBERS) {
      begun += 1;
      const end = await startHost("fleet-member.mjs", [`member-${begun}`, String(EVENTS)], environment).end;
      expect(end).toMatchObject({ code: 0, signal: null });
      counters.push(JSON.parse(end.stdout) as LifecycleCounters);
      ended += 1;
      await keepCollector();
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runMembers));
  await keepCollector();

  // The next process delivers what the others had to leave.
  const last = startHost("host.mjs", ["signal"], environment);
  await last.line("ready");
  await expect.poll(() => segmentsIn(spool), { timeout: 180_000 }).toEqual([]);
  last.process.kill("SIGTERM");
  await last.end;

  const sum = (of: (each: LifecycleCounters) => number): number =>
    counters.reduce((total, each) => total + of(each), 0);
  expect(sum(({ emitted }) => emitted)).toBe(MEMBERS * EVENTS);
  expect(sum(({ exported, spooled }) => exported + spooled)).toBe(MEMBERS * EVENTS);
  expect(counters.flatMap(({ dropped }) => Object.keys(dropped))).toEqual([]);
  // There was an outage to speak of.
  expect(sum(({ spooled }) => spooled)).toBeGreaterThan(EVENTS);

  await collector.endBy("SIGTERM");
  expectOnceEach(database);
  await expectVerified(database);
});

/** Each event is in the log, and counted in the projection no more than once. */
function expectOnceEach(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const stored = database
      .prepare(
        `SELECT child_id, count(DISTINCT sequence) AS events, max(sequence) AS highest, count(*) AS inputs
         FROM inputs JOIN children USING (child_key) WHERE source = 'fleet' AND sequence IS NOT NULL GROUP BY child_id`,
      )
      .all();
    expect(stored).toHaveLength(MEMBERS);
    for (const each of stored) expect(each).toMatchObject({ events: EVENTS, highest: EVENTS, inputs: EVENTS });
    const states = database.prepare("SELECT DISTINCT state, provisional FROM children WHERE source = 'fleet'").all();
    expect(states.map((row) => ({ ...row }))).toEqual([{ state: "completed", provisional: 0 }]);
  } finally {
    database.close();
  }
}
