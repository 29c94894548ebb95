import type { Scenario, ScenarioContext, ScenarioName } from "../scenario.ts";

/** Each scenario is loaded only in the process that runs it. */
const SCENARIOS: Readonly<Record<ScenarioName, () => Promise<Scenario>>> = {
  codec: async () => (await import("../scenarios/codec.ts")).measureCodec,
  fold: async () => (await import("../scenarios/fold.ts")).measureFold,
  emit: async () => (await import("../scenarios/emit.ts")).measureEmit,
  exit: async () => (await import("../scenarios/exit.ts")).measureExit,
  "live-children": async () => (await import("../scenarios/live-children.ts")).measureLiveChildren,
  "ingest-protobuf": async () => (await import("../scenarios/ingest.ts")).measureIngestProtobuf,
  "ingest-json": async () => (await import("../scenarios/ingest.ts")).measureIngestJson,
  comparison: async () => (await import("../scenarios/comparison.ts")).measureComparison,
  latency: async () => (await import("../scenarios/latency.ts")).measureLatency,
  board: async () => (await import("../scenarios/board.ts")).measureBoard,
  hook: async () => (await import("../scenarios/hook.ts")).measureHook,
  restart: async () => (await import("../scenarios/restart.ts")).measureRestart,
  profile: async () => (await import("../scenarios/profile.ts")).measureProfile,
};

// Whoever asked is gone: nobody reads the figures.
process.once("disconnect", () => process.exit(1));

const [, , name, context] = process.argv;
try {
  const scenario = await SCENARIOS[name as ScenarioName]();
  const figures = await scenario(JSON.parse(context ?? "{}") as ScenarioContext);
  process.send?.(figures, () => process.exit(0));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
