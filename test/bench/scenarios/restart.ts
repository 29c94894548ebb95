import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fillDatabase } from "../load/fill-database.ts";
import { Producers } from "../load/producers.ts";
import { BATCH_SIZE } from "../load/requests.ts";
import type { Figure } from "../measure/figure.ts";
import { expectAllApplied, startCollector } from "../processes/collector.ts";
import type { ScenarioContext } from "../scenario.ts";

/** What a crash may leave for the next start to replay: fewer inputs than make the collector write a checkpoint. */
const EVENTS_BEFORE_CRASH = 8_192;

/** What the budget speaks of, and as many live children as the memory budget speaks of. */
const LONG_LOG = { inputs: 10_000_000, live: 1_000_000 } as const;

/** Time from starting the collector to its ready line, with a long log behind it, after a stop and after a crash. */
export async function measureRestart({ quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  const inputs = quick ? 50_000 : 1_000_000;
  const rounds = quick ? 2 : 4;
  const database = join(folder, "collector.db");
  const producers = new Producers({
    encoding: "protobuf",
    concurrency: 8,
    eventsPerRequest: BATCH_SIZE,
    cohort: { ends: false },
    // Not those of the long log.
    firstCohort: 50_000_000,
  });
  try {
    const live = await store(producers, database, inputs);
    const figures = [...(await measureRounds(producers, { database, inputs, live, rounds }, folder))];
    if (quick) return figures;
    await rm(database);
    const long = join(folder, "long.db");
    fillDatabase(long, LONG_LOG);
    figures.push(...(await measureRounds(producers, { database: long, ...LONG_LOG, rounds: 3 }, folder)));
    return figures;
  } finally {
    producers.close();
  }
}

interface Restarts {
  readonly database: string;
  readonly inputs: number;
  readonly live: number;
  readonly rounds: number;
}

async function measureRounds(
  producers: Producers,
  { database, inputs, live, rounds }: Restarts,
  folder: string,
): Promise<readonly Figure[]> {
  const stopped: number[] = [];
  const crashed: number[] = [];
  const empty: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    stopped.push(await timeToReady(database));
    empty.push(await timeToReady(join(folder, `empty-${inputs}-${round}.db`)));
    await crash(producers, database);
    crashed.push(await timeToReady(database));
  }
  const count = (number: number): string => number.toLocaleString("en-US");
  const what = `restart to ready, ${count(inputs)} inputs, ${count(live)} live children`;
  const baseline = { name: "with an empty database", samples: empty };
  const isBudgeted = inputs >= LONG_LOG.inputs;
  return [
    {
      what: `${what}, after a stop`,
      unit: "ms",
      samples: stopped,
      baseline,
      ...(isBudgeted ? { budget: "≤ 3,000 ms" } : undefined),
    },
    { what: `${what}, after a kill`, unit: "ms", samples: crashed, baseline },
  ];
}

/** @returns how many children are left running. */
async function store(producers: Producers, database: string, inputs: number): Promise<number> {
  const collector = await startCollector(database);
  try {
    const { events } = await producers.send(collector.logsUrl, inputs);
    await expectAllApplied(collector, events);
    return (await collector.summary()).live;
  } finally {
    await collector.server.stop();
  }
}

async function timeToReady(database: string): Promise<number> {
  const { server } = await startCollector(database);
  await server.stop();
  return server.readyAfterMs;
}

async function crash(producers: Producers, database: string): Promise<void> {
  const collector = await startCollector(database);
  await producers.send(collector.logsUrl, EVENTS_BEFORE_CRASH);
  await collector.server.stop("SIGKILL");
}
