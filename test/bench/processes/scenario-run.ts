import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Figure } from "../measure/figure.ts";
import type { ScenarioContext, ScenarioName } from "../scenario.ts";

/** Room for a million children and the events that made them. */
const MAX_OLD_SPACE_MIB = 6144;

const PROGRAM = fileURLToPath(import.meta.resolve("./scenario-process.js"));

/** Runs one scenario in a fresh process. @throws Error when that ends without figures. */
export async function measureInProcess(name: ScenarioName, context: ScenarioContext): Promise<readonly Figure[]> {
  const child = fork(PROGRAM, [name, JSON.stringify(context)], {
    execArgv: ["--expose-gc", `--max-old-space-size=${MAX_OLD_SPACE_MIB}`],
    serialization: "advanced",
  });
  let figures: readonly Figure[] | undefined;
  child.on("message", (message) => {
    figures = message as readonly Figure[];
  });
  const [exitCode] = (await once(child, "close")) as [number | null];
  if (exitCode === 0 && figures !== undefined) return figures;
  throw new Error(`the scenario ended with exit code ${exitCode}`);
}
