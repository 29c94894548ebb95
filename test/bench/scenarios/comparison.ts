import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { buildOtelCollector, type OtelCollectorBuild } from "../../programs/otel-collector/build.ts";
import { Producers, type Stretch } from "../load/producers.ts";
import type { Baseline, Figure } from "../measure/figure.ts";
import { quantile } from "../measure/statistics.ts";
import { type Cores, confineThisProcess, coresToPin } from "../processes/core-pinning.ts";
import type { ScenarioContext } from "../scenario.ts";
import { type Contender, startOtelContender, startOwnContender } from "./contenders.ts";

const CONCURRENCY = 8;
/** Small requests for the time to an answer, as many small producers send them. */
const EVENTS_PER_SMALL_REQUEST = 32;
const SHARE_OF_MAXIMUM = 0.1;

/** So far apart that no fleet reaches the cohorts of the next. */
const COHORTS_BETWEEN_FLEETS = 1_000_000;

/** The two promises that both sides can make, and what each calls them. */
const PROMISES = [
  { name: "flushed before the answer", synchronous: "full", fsync: true },
  { name: "survives the process", synchronous: "normal", fsync: false },
] as const;

/**
 * Our collector against an OpenTelemetry Collector with a persistent queue: the same requests, in turns, each server on
 * the same one processor, and those who load them (with the sink behind the Collector's queue) on another.
 */
export async function measureComparison({ quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  const build = await buildOtelCollector();
  const cores = coresToPin();
  if (cores !== undefined) confineThisProcess(cores.load);
  const figures: Figure[] = [];
  for (const promise of PROMISES) {
    const place = join(folder, promise.synchronous);
    await mkdir(place);
    const own = await startOwnContender(join(place, "collector.db"), promise.synchronous, cores);
    const other = await startOther(build, place, promise.fsync, cores);
    try {
      const pair: Pair = { promise: promise.name, own, other, otherName: describeOther(build), cores };
      for (const eventsPerRequest of quick ? [512] : [128, 1024]) {
        figures.push(...(await measureMaximum(pair, eventsPerRequest, quick)));
      }
      figures.push(...(await measureLatency(pair, quick)), ...(await peakFigures(pair)));
      await own.verify();
    } finally {
      await own.stop();
      await other?.stop();
    }
  }
  return figures;
}

interface Pair {
  readonly promise: string;
  readonly own: Contender;
  /** `undefined` when there is no Collector to measure. */
  readonly other: Contender | undefined;
  readonly otherName: Pick<Baseline, "name" | "notMeasured">;
  readonly cores: Cores | undefined;
}

async function startOther(
  build: OtelCollectorBuild,
  folder: string,
  fsync: boolean,
  cores: Cores | undefined,
): Promise<Contender | undefined> {
  return build.kind === "built" ? startOtelContender(build.path, folder, { fsync, cores }) : undefined;
}

function describeOther(build: OtelCollectorBuild): Pick<Baseline, "name" | "notMeasured"> {
  if (build.kind === "built") return { name: `OpenTelemetry Collector ${build.version}` };
  return { name: "OpenTelemetry Collector", notMeasured: build.reason };
}

/** As fast as answers come. Time and cost run until the last event is where it belongs, not only acknowledged. */
async function measureMaximum(pair: Pair, eventsPerRequest: number, quick: boolean): Promise<readonly Figure[]> {
  const producers = new Producers({
    encoding: "protobuf",
    concurrency: CONCURRENCY,
    eventsPerRequest,
    firstCohort: firstCohortOf(eventsPerRequest),
  });
  const stretchMs = quick ? 1_000 : 4_000;
  const own: Cost[] = [];
  const other: Cost[] = [];
  const measure = async (contender: Contender | undefined, costs: Cost[], counts: boolean): Promise<void> => {
    if (contender === undefined) return;
    const cost = await costOf(contender, () => producers.saturate(contender.logsUrl, stretchMs));
    if (counts) costs.push(cost);
  };
  try {
    for (let round = quick ? -1 : -2; round < (quick ? 3 : 5); round += 1) {
      await measure(pair.own, own, round >= 0);
      await measure(pair.other, other, round >= 0);
    }
  } finally {
    producers.close();
  }
  const where = pair.cores === undefined ? "not pinned" : "on one processor";
  const what = `${pair.promise}, ${eventsPerRequest} a request, ${where}`;
  const figure = (name: string, unit: string, of: (cost: Cost) => number): Figure => ({
    what: `${what}: ${name}`,
    unit,
    samples: own.map(of),
    baseline: { ...pair.otherName, samples: other.map(of) },
  });
  return [
    { ...figure("ingest", "events/s", ({ events, seconds }) => events / seconds), budget: "≥ 3×" },
    figure("processor time", "s per million", ({ events, cpuSeconds }) => (cpuSeconds * 1e6) / events),
    figure("share of the processor", "%", ({ seconds, cpuSeconds }) => (cpuSeconds * 100) / seconds),
  ];
}

/** Each size of request has a fleet of its own. */
function firstCohortOf(eventsPerRequest: number): number {
  return Math.log2(eventsPerRequest) * COHORTS_BETWEEN_FLEETS;
}

interface Cost {
  readonly events: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

async function costOf(contender: Contender, load: () => Promise<Stretch>): Promise<Cost> {
  const before = (await contender.server.cpuSeconds()) ?? Number.NaN;
  const startedAt = performance.now();
  const stretch = await load();
  await contender.settle(stretch);
  const { events } = stretch;
  const seconds = (performance.now() - startedAt) / 1000;
  return { events, seconds, cpuSeconds: ((await contender.server.cpuSeconds()) ?? Number.NaN) - before };
}

/** Time to the answer for both at the same rate: a tenth of what ours reaches at most. */
async function measureLatency(pair: Pair, quick: boolean): Promise<readonly Figure[]> {
  const producers = new Producers({
    encoding: "protobuf",
    concurrency: CONCURRENCY,
    eventsPerRequest: EVENTS_PER_SMALL_REQUEST,
    firstCohort: firstCohortOf(EVENTS_PER_SMALL_REQUEST),
  });
  const paced = async ({ logsUrl, settle }: Contender, rate: number): Promise<readonly number[]> => {
    const latencies = await producers.latencies(logsUrl, rate, quick ? 1_000 : 4_000);
    await settle({ requests: latencies.length, events: latencies.length * EVENTS_PER_SMALL_REQUEST });
    return latencies;
  };
  try {
    const warmUp = await producers.saturate(pair.own.logsUrl, quick ? 500 : 2_000);
    await pair.own.settle(warmUp);
    const most = await producers.saturate(pair.own.logsUrl, quick ? 1_000 : 2_000);
    await pair.own.settle(most);
    const rate = most.eventsPerSecond * SHARE_OF_MAXIMUM;
    const own: (readonly number[])[] = [];
    const other: (readonly number[])[] = [];
    for (let round = 0; round < (quick ? 2 : 5); round += 1) {
      own.push(await paced(pair.own, rate));
      if (pair.other !== undefined) other.push(await paced(pair.other, rate));
    }
    const load = `${EVENTS_PER_SMALL_REQUEST} a request, ${Math.round(rate).toLocaleString("en-US")} events/s`;
    const figure = (name: string, share: number): Figure => ({
      what: `${pair.promise}, ${load}: time to the answer, ${name}`,
      unit: "ms",
      samples: own.map((latencies) => quantile(latencies, share)),
      baseline: { ...pair.otherName, samples: other.map((latencies) => quantile(latencies, share)) },
    });
    return [figure("p50", 0.5), { ...figure("p99", 0.99), budget: "≤ 10 ms" }];
  } finally {
    producers.close();
  }
}

async function peakFigures({ promise, own, other, otherName }: Pair): Promise<readonly Figure[]> {
  const ownPeak = await own.server.peakResidentMib();
  const otherPeak = await other?.server.peakResidentMib();
  if (ownPeak === undefined) return [];
  const baseline = { ...otherName, samples: otherPeak === undefined ? [] : [otherPeak] };
  return [{ what: `${promise}: most resident memory`, unit: "MiB", samples: [ownPeak], baseline }];
}
