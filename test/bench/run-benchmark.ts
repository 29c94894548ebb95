import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { describeLoad } from "./load/requests.ts";
import type { Figure } from "./measure/figure.ts";
import { formatTable } from "./measure/table.ts";
import { type BenchmarkOptions, parseOptions, USAGE } from "./options.ts";
import { measureInProcess } from "./processes/scenario-run.ts";
import type { ScenarioName } from "./scenario.ts";

/** Runs what the arguments ask for and prints one table. Nothing is judged: only a scenario that breaks is a failure. */
export async function runBenchmark(argv: readonly string[]): Promise<number> {
  let options: BenchmarkOptions;
  try {
    options = parseOptions(argv);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }
  const startedAt = performance.now();
  const figures: Figure[] = [];
  const failed: ScenarioName[] = [];
  for (const name of options.scenarios) {
    process.stderr.write(`measuring ${name} …\n`);
    const measured = await measure(name, options.quick);
    if (measured === undefined) failed.push(name);
    else figures.push(...measured);
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const run = `${machine()}; ${options.quick ? "quick" : "full"} run, ${seconds} s`;
  process.stdout.write(`${run}\nload: ${describeLoad()}\n\n${formatTable(figures)}`);
  if (failed.length === 0) return 0;
  process.stderr.write(`not measured: ${failed.join(", ")}\n`);
  return 1;
}

async function measure(name: ScenarioName, quick: boolean): Promise<readonly Figure[] | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "agent-lifecycle-bench-"));
  try {
    return await measureInProcess(name, { quick, folder });
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function machine(): string {
  return `Node.js ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? "unknown CPU"}`;
}
