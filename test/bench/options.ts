import { parseArgs } from "node:util";
import { PROFILE, SCENARIO_NAMES, type ScenarioName } from "./scenario.ts";

export interface BenchmarkOptions {
  /** A run of less than a minute: fewer rounds, smaller numbers of everything. */
  readonly quick: boolean;
  readonly scenarios: readonly ScenarioName[];
}

export const USAGE: string = `usage: npm run bench -- [--quick] [--profile] [--only name]…\nnames: ${SCENARIO_NAMES.join(", ")}\n`;

/**
 * Everything but the profile, unless `--only` names scenarios. `--profile` asks for the profile: alone, or beside those
 * that are named.
 * @throws Error that says what is wrong with the arguments.
 */
export function parseOptions(argv: readonly string[]): BenchmarkOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: "boolean", default: false },
      profile: { type: "boolean", default: false },
      only: { type: "string", multiple: true },
    },
  });
  const unknown = values.only?.find((name) => !isScenarioName(name));
  if (unknown !== undefined) throw new Error(`there is no scenario named ${JSON.stringify(unknown)}`);
  const otherwise = values.profile ? [] : SCENARIO_NAMES.filter((name) => name !== PROFILE);
  const wanted = new Set<string>(values.only ?? otherwise);
  if (values.profile) wanted.add(PROFILE);
  return { quick: values.quick, scenarios: SCENARIO_NAMES.filter((name) => wanted.has(name)) };
}

function isScenarioName(name: string): name is ScenarioName {
  return (SCENARIO_NAMES as readonly string[]).includes(name);
}
