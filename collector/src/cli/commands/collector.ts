import { resolve } from "node:path";
import { Command, Option } from "commander";
import { type Collector, startCollector } from "../../app.ts";
import type { CollectorConfiguration } from "../../config/configuration.ts";
import { describeProblem } from "../../config/problem.ts";
import type { AdminResult } from "../../runtime/admin-actions.ts";
import { shutDownWithin } from "../../runtime/shutdown-deadline.ts";
import { addCollectorFlags, applyFlags, type CollectorFlags } from "../collector-flags.ts";
import { CommandError } from "../command-error.ts";
import { findConfiguration, requireSound } from "../configuration-file.ts";
import { createOwnLog } from "../own-log.ts";
import { createReload } from "../reload.ts";
import { endNow, listenForStop } from "../stop-signals.ts";

interface CollectorOptions extends CollectorFlags {
  readonly config?: string;
  readonly json?: boolean;
}

const NOT_READY: Promise<AdminResult> = Promise.resolve({
  ok: false,
  reason: "conflict",
  text: "the collector is starting",
});

/** `agent-lifecycle collector`: receives, stores, projects and shows until it is told to stop. */
export function collectorCommand(): Command {
  return addCollectorFlags(new Command("collector").description("start the collector").addOption(configOption()))
    .option("--json", "print addresses as one JSON line when ready")
    .addHelpText("after", "\nExample:\n  agent-lifecycle collector --config /etc/agent-lifecycle/collector.yaml")
    .action(run);
}

/** The file that `collector` and `config` read; flags lie over it. */
export function configOption(): Option {
  return new Option("--config <file>", "configuration in YAML").env("AGENT_LIFECYCLE_CONFIG");
}

async function run(options: CollectorOptions): Promise<void> {
  const { config } = options;
  const find = () => findConfiguration(config, (stated) => applyFlags(stated, options));
  const found = find();
  const configuration = requireSound(found, config);
  const log = createOwnLog(configuration.service.telemetry.logs.level);
  for (const warning of found.warnings) log.warn({ warning: describeProblem(warning) }, "the configuration is unwise");
  // Without a file a terminal that closes means what it usually does.
  const stop = listenForStop(config === undefined ? ["SIGTERM", "SIGINT", "SIGHUP"] : ["SIGTERM", "SIGINT"]);
  let reload: (() => Promise<AdminResult>) | undefined;
  const collector = await startCollector(configuration, {
    log,
    stdin: process.stdin,
    folder: found.folder,
    // Without a file there is nothing to read again.
    ...(config === undefined ? undefined : { reload: () => reload?.() ?? NOT_READY }),
  }).catch((error: unknown) => {
    throw portTaken(error) ?? error;
  });
  const setLogLevel = (level: string): void => {
    log.level = level;
  };
  const reloadNow = createReload({ collector, find, setLogLevel, log });
  reload = reloadNow;
  if (config !== undefined) process.on("SIGHUP", () => void reloadNow());
  announce(collector, configuration, options.json === true);
  await stop.first;
  await end(collector, configuration);
}

async function end(collector: Collector, { service }: CollectorConfiguration): Promise<void> {
  const outcome = await shutDownWithin(collector, service.shutdownTimeoutMs, (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  });
  if (outcome.kind === "stopped") return;
  endNow(`did not stop within ${service.shutdownTimeoutMs} ms: ${outcome.runningParts.join(", ")}`);
}

function portTaken(error: unknown): CommandError | undefined {
  const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  if (!isTaken) return undefined;
  const choice = "choose other ports with --ingest-port and --api-port, or in the configuration";
  return new CommandError(`${error.message}: ${choice}`, { cause: error });
}

function announce({ ingestUrl, grpcUrl, apiUrl }: Collector, { storage }: CollectorConfiguration, json: boolean): void {
  if (json) {
    const addresses = { ingest: ingestUrl ?? null, grpc: grpcUrl ?? null, api: apiUrl };
    process.stdout.write(`${JSON.stringify({ ready: true, ...addresses })}\n`);
    return;
  }
  const lines = [
    `board and API  ${apiUrl}`,
    ...(ingestUrl === undefined ? [] : [`OTLP/HTTP      ${ingestUrl}/v1/logs`]),
    ...(grpcUrl === undefined ? [] : [`OTLP/gRPC      ${grpcUrl}`]),
    `database       ${resolve(storage.path)}`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}
