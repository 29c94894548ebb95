import type { Figure } from "./measure/figure.ts";

/** In the order in which they run. Each runs in a process of its own: no scenario warms or litters another's heap. */
export const SCENARIO_NAMES = [
  "codec",
  "fold",
  "emit",
  "exit",
  "live-children",
  "ingest-protobuf",
  "ingest-json",
  "comparison",
  "latency",
  "board",
  "hook",
  "restart",
  "profile",
] as const;

export type ScenarioName = (typeof SCENARIO_NAMES)[number];

/** It says where time goes and not how much there is: it runs only when asked for. */
export const PROFILE: ScenarioName = "profile";

export interface ScenarioContext {
  readonly quick: boolean;
  /** An empty folder that is removed afterwards. */
  readonly folder: string;
}

export type Scenario = (context: ScenarioContext) => Promise<readonly Figure[]>;
