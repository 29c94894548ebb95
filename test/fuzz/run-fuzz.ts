import { parseArgs } from "node:util";
import { SeededRandom } from "../kit/seeded-random.ts";
import { FUZZ_TARGETS, type FuzzTarget } from "./targets.ts";

export interface FuzzFinding {
  readonly target: string;
  /** `--only TARGET --seed SEED --inputs 1` meets it again. */
  readonly seed: number;
  readonly error: string;
}

export interface FuzzReport {
  readonly inputs: ReadonlyMap<string, number>;
  readonly findings: readonly FuzzFinding[];
}

const MAX_FINDINGS = 20;
/** Seeds of one target lie so far from those of the next. */
const SEEDS_PER_TARGET = 0x1000_0000;

/** Gives every target its share of the inputs. Every input has a seed of its own, so that one alone can be met again. */
export function fuzz(inputs: number, firstSeed: number, targets: readonly FuzzTarget[] = FUZZ_TARGETS): FuzzReport {
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  const counts = new Map<string, number>();
  const findings: FuzzFinding[] = [];
  for (const [index, target] of targets.entries()) {
    const share = Math.ceil((inputs * target.weight) / weights);
    const base = targets.length === 1 ? firstSeed : firstSeed + index * SEEDS_PER_TARGET;
    for (let input = 0; input < share && findings.length < MAX_FINDINGS; input += 1) {
      const seed = (base + input) >>> 0;
      try {
        target.try(new SeededRandom(seed));
      } catch (error) {
        findings.push({
          target: target.name,
          seed,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        });
      }
    }
    counts.set(target.name, share);
    expectPrototypesUnharmed(target.name, findings);
  }
  return { inputs: counts, findings };
}

function expectPrototypesUnharmed(target: string, findings: FuzzFinding[]): void {
  for (const prototype of [Object.prototype, Array.prototype]) {
    const names = Object.keys(prototype);
    if (names.length > 0) findings.push({ target, seed: -1, error: `a prototype has gained ${names.join(", ")}` });
  }
}

/** The command: `--inputs N --seed S --only TARGET`. Exit code 1 when anything was found. */
export function runFuzz(argv: readonly string[]): number {
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
  const report = fuzz(inputs, seed, targets);
  for (const [name, count] of report.inputs) process.stdout.write(`${name.padEnd(16)} ${count}\n`);
  for (const finding of report.findings) {
    process.stdout.write(`\n--only ${finding.target} --seed ${finding.seed} --inputs 1\n${finding.error}\n`);
  }
  process.stdout.write(`${report.findings.length} findings\n`);
  return report.findings.length === 0 ? 0 : 1;
}
