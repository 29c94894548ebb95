import { fileURLToPath } from "node:url";
import { ServerProcess } from "./server-process.ts";

const PACKAGE = import.meta.resolve("@agent-lifecycle/collector/package.json");
const PROGRAM = fileURLToPath(new URL("bin/agent-lifecycle.js", PACKAGE));

export interface RunningCollector {
  readonly server: ServerProcess;
  readonly logsUrl: string;
  readonly apiUrl: string;
  /** What the collector counts, as the API tells it. */
  summary(): Promise<CollectorSummary>;
}

export interface CollectorSummary {
  readonly started: number;
  readonly live: number;
  readonly stale: number;
  readonly provisional: number;
  /** Id of the newest stored input. */
  readonly position: number;
}

export interface CollectorOptions {
  /** `normal` gives up what a crash of the machine may cost. Default: the collector's own, `full`. */
  readonly synchronous?: "full" | "normal";
  /** The one processor it may use. Default: all. */
  readonly core?: number | undefined;
  readonly nodeOptions?: readonly string[];
}

/** Starts the collector as its users do, with its defaults: durable acknowledgement, every check in place. */
export async function startCollector(database: string, options: CollectorOptions = {}): Promise<RunningCollector> {
  const { synchronous, core, nodeOptions = [] } = options;
  const ports = ["--ingest-port", "0", "--api-port", "0"];
  const durability = synchronous === undefined ? [] : ["--synchronous", synchronous];
  const argv = [...nodeOptions, PROGRAM, "collector", "--json", "--database", database, ...ports, ...durability];
  const server = await ServerProcess.startNode(argv, core);
  const { ingest, api } = server.addresses;
  return {
    server,
    logsUrl: `${String(ingest)}/v1/logs`,
    apiUrl: String(api),
    summary: async () => {
      const answer = await fetch(`${String(api)}/api/v1/summary`);
      if (!answer.ok) throw new Error(`the summary was answered with ${answer.status}`);
      return (await answer.json()) as CollectorSummary;
    },
  };
}

/**
 * A figure is worth nothing if the work was not done: every event stored, none of them refused, doubted or repeated.
 * @throws Error that says what is missing.
 */
export async function expectAllApplied(collector: RunningCollector, sentEvents: number): Promise<void> {
  const summary = await collector.summary();
  // The collector's own words, such as that it has started, are inputs too.
  const isComplete = summary.position >= sentEvents && summary.position <= sentEvents + summary.stale + 100;
  if (isComplete && summary.provisional === 0) return;
  throw new Error(`${sentEvents} events were sent; the collector has ${JSON.stringify(summary)}`);
}
