import { join } from "node:path";
import { Producers, type Stretch } from "../load/producers.ts";
import { BATCH_SIZE, type Encoding } from "../load/requests.ts";
import type { Figure } from "../measure/figure.ts";
import { expectAllApplied, startCollector } from "../processes/collector.ts";
import { DURABLE_SINK, startDurableSink } from "../processes/durable-sink-process.ts";
import type { ServerProcess } from "../processes/server-process.ts";
import type { ScenarioContext } from "../scenario.ts";

const CONCURRENCY = 8;
const EVENTS_PER_REQUEST = BATCH_SIZE;

export function measureIngestProtobuf(context: ScenarioContext): Promise<readonly Figure[]> {
  return measureIngest("protobuf", context);
}

export function measureIngestJson(context: ScenarioContext): Promise<readonly Figure[]> {
  return measureIngest("json", context);
}

/** Events a second that a collector takes durably over HTTP, in turns with the baseline, and what they cost it. */
async function measureIngest(encoding: Encoding, { quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  const stretchMs = quick ? 800 : 3_000;
  const rounds = quick ? 2 : 5;
  const collector = await startCollector(join(folder, "collector.db"));
  const sink = await startDurableSink(join(folder, "sink"));
  const producers = new Producers({ encoding, concurrency: CONCURRENCY, eventsPerRequest: EVENTS_PER_REQUEST });
  try {
    const sinkRates: number[] = [];
    const costs: CostlyStretch[] = [];
    const warmUp = await producers.saturate(collector.logsUrl, quick ? 1_000 : 3_000);
    await producers.saturate(sink.logsUrl, 500);
    for (let round = 0; round < rounds; round += 1) {
      costs.push(await withCost(collector.server, () => producers.saturate(collector.logsUrl, stretchMs)));
      sinkRates.push((await producers.saturate(sink.logsUrl, stretchMs)).eventsPerSecond);
    }
    await expectAllApplied(
      collector,
      costs.reduce((sum, { events }) => sum + events, warmUp.events),
    );
    const what = `ingest OTLP ${encoding === "json" ? "JSON" : "protobuf"}, durable answers`;
    const figures: Figure[] = [
      {
        what,
        unit: "events/s",
        samples: costs.map(({ eventsPerSecond }) => eventsPerSecond),
        baseline: { name: DURABLE_SINK, samples: sinkRates },
        ...(encoding === "protobuf" ? { budget: "200,000, for orientation" } : undefined),
      },
    ];
    const cpu = costs.flatMap(({ cpuSeconds, events }) =>
      cpuSeconds === undefined ? [] : [(cpuSeconds * 1e6) / events],
    );
    if (cpu.length > 0) figures.push({ what: `${what}, processor time`, unit: "s per million", samples: cpu });
    const resident = await collector.server.residentMib();
    if (resident !== undefined) figures.push({ what: `${what}, resident memory`, unit: "MiB", samples: [resident] });
    return figures;
  } finally {
    producers.close();
    await collector.server.stop();
    await sink.server.stop();
  }
}

interface CostlyStretch extends Stretch {
  readonly cpuSeconds: number | undefined;
}

async function withCost(server: ServerProcess, load: () => Promise<Stretch>): Promise<CostlyStretch> {
  const before = await server.cpuSeconds();
  const stretch = await load();
  const after = await server.cpuSeconds();
  return { ...stretch, cpuSeconds: before === undefined || after === undefined ? undefined : after - before };
}
