import { join } from "node:path";
import { Producers } from "../load/producers.ts";
import type { Figure } from "../measure/figure.ts";
import { quantile } from "../measure/statistics.ts";
import { startCollector } from "../processes/collector.ts";
import { DURABLE_SINK, startDurableSink } from "../processes/durable-sink-process.ts";
import type { ScenarioContext } from "../scenario.ts";

const CONCURRENCY = 8;
/** Small requests, as many small producers send them: they are many, and there is little to hide a flush behind. */
const EVENTS_PER_REQUEST = 32;
const SHARE_OF_MAXIMUM = 0.1;

/** Time to a durable answer at a tenth of the rate that the same requests reach at most. */
export async function measureLatency({ quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  const stretchMs = quick ? 1_000 : 5_000;
  const rounds = quick ? 2 : 3;
  const collector = await startCollector(join(folder, "collector.db"));
  const sink = await startDurableSink(join(folder, "sink"));
  const producers = new Producers({
    encoding: "protobuf",
    concurrency: CONCURRENCY,
    eventsPerRequest: EVENTS_PER_REQUEST,
  });
  try {
    await producers.saturate(collector.logsUrl, quick ? 1_000 : 3_000);
    const { eventsPerSecond: maximum } = await producers.saturate(collector.logsUrl, quick ? 1_000 : 2_000);
    await producers.saturate(sink.logsUrl, 500);
    const rate = maximum * SHARE_OF_MAXIMUM;
    const ours: (readonly number[])[] = [];
    const bare: (readonly number[])[] = [];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await producers.latencies(collector.logsUrl, rate, stretchMs));
      bare.push(await producers.latencies(sink.logsUrl, rate, stretchMs));
    }
    const what = `time to durable answer, ${EVENTS_PER_REQUEST} records each, ${Math.round(rate).toLocaleString("en-US")} events/s`;
    const figure = (name: string, share: number): Figure => ({
      what: `${what}, ${name}`,
      unit: "ms",
      samples: ours.map((latencies) => quantile(latencies, share)),
      baseline: { name: DURABLE_SINK, samples: bare.map((latencies) => quantile(latencies, share)) },
    });
    return [figure("p50", 0.5), { ...figure("p99", 0.99), budget: "≤ 10 ms" }];
  } finally {
    producers.close();
    await collector.server.stop();
    await sink.server.stop();
  }
}
