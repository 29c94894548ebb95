import { type Child, createLifecycle, type Lifecycle } from "@agent-lifecycle/sdk";
import { type BareLogger, createBareLogger, FORGETTING_EXPORTER } from "../load/bare-logger.ts";
import type { Figure } from "../measure/figure.ts";
import { nanosecondsEach, ratesInTurns, type Work } from "../measure/rounds.ts";
import type { ScenarioContext } from "../scenario.ts";

const SOURCE = "bench-host";
const SOURCE_EPOCH = "3d0f2f0e-6a45-4bb1-8d3b-5f2c1a9e7b10";
const ROOT = "0f6c8e52-4d1c-4e10-9e10-000000000000";
const CHILD = "0f6c8e52-4d1c-4e10-9e10-000000000001";
const BUDGET = "≤ 1.2×";

/** Time that reporting takes from the host's thread: in the call itself, and with everything that follows it. */
export async function measureEmit({ quick }: ScenarioContext): Promise<readonly Figure[]> {
  const events = quick ? 4_096 : 8_192;
  const lifecycle = createLifecycle(
    {
      source: SOURCE,
      sourceEpoch: SOURCE_EPOCH,
      exporter: FORGETTING_EXPORTER,
      jsonl: false,
      heartbeatIntervalMs: 0,
      exitHooks: false,
      delivery: { maxBufferedEvents: events * 4 },
    },
    { environment: {} },
  );
  const child = runningChild(lifecycle);
  const bare = createBareLogger(SOURCE, SOURCE_EPOCH, CHILD, ROOT);
  const settle = async (): Promise<void> => {
    await lifecycle.flush();
    await bare.flush();
  };
  const rates = await ratesInTurns(piecesOf(child, lifecycle, bare, events), {
    rounds: quick ? 5 : 21,
    warmUps: 4,
    settle,
  });
  expectNoneDropped(lifecycle);
  await lifecycle.shutdown();

  const figure = (what: string, ours: readonly number[], theirs: readonly number[]): Figure => ({
    what,
    unit: "ns/event",
    samples: nanosecondsEach(ours),
    baseline: { name: "logger.emit, same attributes, only buffered", samples: nanosecondsEach(theirs) },
  });
  return [
    { ...figure("emit a heartbeat, host's call", rates.heartbeat, rates.bareHeartbeat), budget: BUDGET },
    { ...figure("emit an activity, host's call", rates.activity, rates.bareActivity), budget: BUDGET },
    { ...figure("emit an activity with a tool, host's call", rates.tool, rates.bareTool), budget: BUDGET },
    figure("emit an activity and hand it to the exporter", rates.delivered, rates.bareDelivered),
  ];
}

function piecesOf(
  child: Child,
  lifecycle: Lifecycle,
  bare: BareLogger,
  events: number,
): Readonly<Record<PieceName, Work>> {
  const times = (work: (index: number) => void): Work => {
    return () => {
      for (let index = 0; index < events; index += 1) work(index);
      return events;
    };
  };
  const delivered = (emitAll: Work, flush: () => Promise<unknown>): Work => {
    return async () => {
      const count = await emitAll();
      await flush();
      return count;
    };
  };
  const activity = times((index) => child.activity(TEXTS[index % TEXTS.length] ?? ""));
  const bareActivity = times((index) => bare.activity(TEXTS[index % TEXTS.length] ?? ""));
  return {
    heartbeat: times(() => child.heartbeat()),
    bareHeartbeat: times(() => bare.heartbeat()),
    activity,
    bareActivity,
    tool: times((index) => child.activity(TEXTS[index % TEXTS.length] ?? "", { tool: "run_tests" })),
    bareTool: times((index) => bare.activityWithTool(TEXTS[index % TEXTS.length] ?? "", "run_tests")),
    delivered: delivered(activity, () => lifecycle.flush()),
    bareDelivered: delivered(bareActivity, () => bare.flush()),
  };
}

type PieceName =
  | "heartbeat"
  | "bareHeartbeat"
  | "activity"
  | "bareActivity"
  | "tool"
  | "bareTool"
  | "delivered"
  | "bareDelivered";

const TEXTS: readonly string[] = Array.from({ length: 64 }, (_, index) => `edit_file on src/module-${index}.ts`);

function runningChild(lifecycle: Lifecycle): Child {
  const child = lifecycle.child({ childId: CHILD, parent: { childId: ROOT } });
  child.starting();
  child.running();
  return child;
}

/** A call that drops its event is no cheap call. */
function expectNoneDropped(lifecycle: Lifecycle): void {
  const { emitted, exported, dropped } = lifecycle.counters();
  if (emitted !== exported) throw new Error(`${emitted - exported} events did not arrive: ${JSON.stringify(dropped)}`);
}
