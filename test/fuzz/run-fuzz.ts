import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { SeededRandom } from "../kit/seeded-random.ts";
import { expectThat, type FuzzTarget, type Judge } from "./target.ts";
import { FUZZ_TARGETS } from "./targets.ts";

export interface FuzzFinding {
  readonly target: string;
  /** `--only TARGET --seed SEED --inputs 1` meets it again. Absent for what only shows at the end. */
  readonly seed: number | undefined;
  readonly error: string;
}

export interface FuzzReport {
  /** Inputs that were judged, by target. */
  readonly inputs: ReadonlyMap<string, number>;
  readonly findings: readonly FuzzFinding[];
}

/** Of one target: the others are tried all the same. */
const MAX_FINDINGS = 10;
/** Seeds of one target lie so far from those of the next. */
const SEEDS_PER_TARGET = 0x0800_0000;

/** Gives every target its share of the inputs. Every input has a seed of its own, so that one alone can be met again. */
export async function fuzz(
  inputs: number,
  firstSeed: number,
  targets: readonly FuzzTarget[] = FUZZ_TARGETS,
): Promise<FuzzReport> {
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  const counts = new Map<string, number>();
  const findings: FuzzFinding[] = [];
  for (const [index, target] of targets.entries()) {
    const share = Math.ceil((inputs * target.weight) / weights);
    const base = targets.length === 1 ? firstSeed : firstSeed + index * SEEDS_PER_TARGET;
    const found = await fuzzTarget(target, share, base);
    counts.set(target.name, found.judged);
    findings.push(...found.findings);
  }
  return { inputs: counts, findings };
}

async function fuzzTarget(
  { name, open }: FuzzTarget,
  share: number,
  firstSeed: number,
): Promise<{ readonly judged: number; readonly findings: readonly FuzzFinding[] }> {
  const findings: FuzzFinding[] = [];
  const note = (seed: number | undefined, error: unknown): void => {
    findings.push({
      target: name,
      seed,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  };
  const { judge, close, maxHeldBytes } = await open();
  const heldBefore = heldBytes();
  let judged = 0;
  while (judged < share && findings.length < MAX_FINDINGS) {
    const seed = (firstSeed + judged) >>> 0;
    try {
      const judging = judgeInput(judge, seed);
      if (judging !== undefined) await judging;
    } catch (error) {
      note(seed, error);
    }
    judged += 1;
  }
  try {
    await close();
    expectPrototypesUnharmed();
    const grownBytes = heldBytes() - heldBefore;
    expectThat(
      maxHeldBytes === undefined || grownBytes <= maxHeldBytes,
      `${grownBytes} bytes are held of what was judged`,
    );
  } catch (error) {
    note(undefined, error);
  }
  return { judged, findings };
}

// Most judges answer at once: waiting for each of millions would take longer than judging it.
function judgeInput(judge: Judge, seed: number): Promise<void> | undefined {
  return judge(new SeededRandom(seed)) ?? undefined;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heldBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function expectPrototypesUnharmed(): void {
  for (const prototype of [Object.prototype, Array.prototype]) {
    const names = Object.keys(prototype);
    expectThat(names.length === 0, `a prototype has gained ${names.join(", ")}`);
  }
}

/** The command: `--inputs N --seed S --only TARGET`. Exit code 1 when anything was found. */
export async function runFuzz(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: { inputs: { type: "string" }, seed: { type: "string" }, only: { type: "string" } },
  });
  const inputs = Number(values.inputs ?? 100_000);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  const targets = FUZZ_TARGETS.filter(({ name }) => values.only === undefined || values.only === name);
  if (targets.length === 0 || !Number.isSafeInteger(inputs) || !Number.isSafeInteger(seed)) {
    process.stderr.write(`targets: ${FUZZ_TARGETS.map(({ name }) => name).join(", ")}\n`);
    return 2;
  }
  process.stdout.write(`seed ${seed}\n`);
  const report = await fuzz(inputs, seed, targets);
  let judged = 0;
  for (const [name, count] of report.inputs) {
    judged += count;
    process.stdout.write(`${name.padEnd(16)} ${count}\n`);
  }
  for (const { target, seed: found, error } of report.findings) {
    const again = found === undefined ? `${target}, at its end` : `--only ${target} --seed ${found} --inputs 1`;
    process.stdout.write(`\n${again}\n${error}\n`);
  }
  process.stdout.write(`${judged} inputs, ${report.findings.length} findings\n`);
  return report.findings.length === 0 ? 0 : 1;
}
