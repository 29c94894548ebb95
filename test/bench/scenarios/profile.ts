import { mkdir, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Producers } from "../load/producers.ts";
import { BATCH_SIZE } from "../load/requests.ts";
import { type CpuProfile, type SelfTime, selfTimesOf, timesByPart } from "../measure/cpu-profile.ts";
import type { Figure } from "../measure/figure.ts";
import { expectAllApplied, startCollector } from "../processes/collector.ts";
import { confineThisProcess, coresToPin } from "../processes/core-pinning.ts";
import type { ScenarioContext } from "../scenario.ts";

const CONCURRENCY = 8;
const NAMED_FUNCTIONS = 25;
/** Often enough to see functions that take microseconds. Microseconds. */
const SAMPLING_INTERVAL = 500;

/**
 * Where the main thread's time goes while a collector takes OTLP protobuf as fast as it can: by part, and the functions
 * that take most. Microseconds for each event, from V8's own sampling profiler, starting of the collector included.
 */
export async function measureProfile({ quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  const cores = coresToPin();
  if (cores !== undefined) confineThisProcess(cores.load);
  const profiles = join(folder, "profiles");
  await mkdir(profiles);
  const collector = await startCollector(join(folder, "collector.db"), {
    core: cores?.server,
    nodeOptions: ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-interval=${SAMPLING_INTERVAL}`],
  });
  const producers = new Producers({
    encoding: "protobuf",
    concurrency: CONCURRENCY,
    eventsPerRequest: BATCH_SIZE,
  });
  let events: number;
  try {
    ({ events } = await producers.saturate(collector.logsUrl, quick ? 5_000 : 20_000));
    await expectAllApplied(collector, events);
  } finally {
    producers.close();
    await collector.server.stop();
  }
  const times = selfTimesOf(await readProfile(profiles));
  const eachOf = (microseconds: number): readonly number[] => [microseconds / events];
  const total = times.reduce((sum, { microseconds }) => sum + microseconds, 0);
  return [
    { what: "main thread, busy", unit: "µs an event", samples: eachOf(total) },
    ...timesByPart(times).map(
      ({ part, microseconds }): Figure => ({
        what: `  ${part} (${Math.round((microseconds * 100) / total)} %)`,
        unit: "µs an event",
        samples: eachOf(microseconds),
      }),
    ),
    ...times
      .slice(0, NAMED_FUNCTIONS)
      .map(
        (time): Figure => ({ what: `    ${nameOf(time)}`, unit: "µs an event", samples: eachOf(time.microseconds) }),
      ),
  ];
}

async function readProfile(folder: string): Promise<CpuProfile> {
  const [file] = await readdir(folder);
  if (file === undefined) throw new Error("the collector wrote no profile");
  return JSON.parse(await readFile(join(folder, file), "utf8")) as CpuProfile;
}

function nameOf({ frame, script }: SelfTime): string {
  const own = `${frame.functionName || "(anonymous)"}${frame.url === "" ? "" : ` ${placeOf(frame.url, frame.lineNumber)}`}`;
  return frame === script || script.url === ""
    ? own
    : `${own} called by ${script.functionName} ${placeOf(script.url, script.lineNumber)}`;
}

function placeOf(url: string, lineNumber: number): string {
  return url.startsWith("node:") ? url : `${basename(url)}:${lineNumber + 1}`;
}
