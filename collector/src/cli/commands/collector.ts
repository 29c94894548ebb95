import { once } from "node:events";
import { resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { pino } from "pino";
import { type Collector, startCollector } from "../../app.ts";
import {
  type CollectorConfiguration,
  DEFAULT_CONFIGURATION,
  resolveConfiguration,
  type SourceConfiguration,
} from "../../config/configuration.ts";
import { CommandError } from "../command-error.ts";
import { wholeNumber } from "../whole-number.ts";

interface CollectorOptions {
  readonly database: string;
  readonly synchronous: "full" | "normal";
  readonly ingestHost: string;
  readonly ingestPort: number;
  readonly apiHost: string;
  readonly apiPort: number;
  readonly staleAfterMs: number;
  readonly reconcileDeadlineMs: number;
  readonly missingGrace: number;
  readonly livenessIntervalMs: number;
  readonly maxBodyBytes: number;
  readonly sourceFreshness: ReadonlyMap<string, SourceConfiguration>;
  readonly follow?: readonly string[];
  readonly allowedHost?: readonly string[];
  readonly stdin?: boolean;
  readonly ingestToken?: string;
  readonly readToken?: string;
  readonly insecurePublicBind?: boolean;
  readonly json?: boolean;
}

const DEFAULTS = DEFAULT_CONFIGURATION;

/** `agent-lifecycle collector`: receives, stores, projects and shows until it is told to stop. */
export function collectorCommand(): Command {
  return new Command("collector")
    .description("start the collector")
    .option("--database <file>", "database file", DEFAULTS.database)
    .addOption(
      new Option("--synchronous <mode>", "full: a commit survives a crash of the machine; normal: of the process")
        .choices(["full", "normal"])
        .default(DEFAULTS.synchronous),
    )
    .option("--ingest-host <address>", "address of OTLP/HTTP and the other ingest routes", DEFAULTS.ingest.host)
    .option("--ingest-port <port>", "0 takes a free one", wholeNumber, DEFAULTS.ingest.port)
    .option("--api-host <address>", "address of board, API and metrics", DEFAULTS.api.host)
    .option("--api-port <port>", "0 takes a free one", wholeNumber, DEFAULTS.api.port)
    .option("--stale-after-ms <ms>", "silence that makes a child stale", wholeNumber, DEFAULTS.freshness.staleAfterMs)
    .option(
      "--reconcile-deadline-ms <ms>",
      "how long an answer is awaited before a stale child may be lost",
      wholeNumber,
      DEFAULTS.freshness.reconcileDeadlineMs,
    )
    .option("--missing-grace <snapshots>", "snapshots that may omit a child", wholeNumber, DEFAULTS.missingGrace)
    .option(
      "--liveness-interval-ms <ms>",
      "time between two looks for silence",
      wholeNumber,
      DEFAULTS.livenessIntervalMs,
    )
    .option("--max-body-bytes <bytes>", "largest request, also after decompression", wholeNumber, DEFAULTS.maxBodyBytes)
    .addOption(
      new Option("--source-freshness <name:staleAfterMs:heartbeatIntervalMs>", "freshness of one source; repeatable")
        .argParser(readSource)
        .default(new Map<string, SourceConfiguration>(), "none"),
    )
    .option("--follow <file>", "follow a JSONL file of events; repeatable", collect)
    .option("--stdin", "read JSONL events from standard input")
    .addOption(new Option("--ingest-token <token>", "bearer token for ingest").env("AGENT_LIFECYCLE_INGEST_TOKEN"))
    .addOption(new Option("--read-token <token>", "bearer token for reading").env("AGENT_LIFECYCLE_READ_TOKEN"))
    .option("--allowed-host <name>", "name that a reverse proxy passes on as Host; repeatable", collect)
    .option("--insecure-public-bind", "allow addresses beyond loopback without tokens")
    .option("--json", "print addresses as one JSON line when ready")
    .addHelpText("after", "\nExample:\n  agent-lifecycle collector --database /var/lib/agent-lifecycle/collector.db")
    .action(async (options: CollectorOptions) => {
      await run(configurationOf(options), options.json === true);
    });
}

async function run(configuration: CollectorConfiguration, json: boolean): Promise<void> {
  const log = pino({ name: "agent-lifecycle" }, pino.destination({ fd: 2, sync: true }));
  const stopping = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  const collector = await startCollector(configuration, { log, stdin: process.stdin }).catch((error: unknown) => {
    throw portTaken(error) ?? error;
  });
  announce(collector, configuration, json);
  await stopping;
  await collector.shutdown();
}

function portTaken(error: unknown): CommandError | undefined {
  const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  if (!isTaken) return undefined;
  return new CommandError(`${error.message}: choose other ports with --ingest-port and --api-port`, { cause: error });
}

function announce({ ingestUrl, apiUrl }: Collector, { database }: CollectorConfiguration, json: boolean): void {
  process.stdout.write(
    json
      ? `${JSON.stringify({ ready: true, ingest: ingestUrl, api: apiUrl })}\n`
      : `board and API  ${apiUrl}\nOTLP/HTTP      ${ingestUrl}/v1/logs\ndatabase       ${resolve(database)}\n`,
  );
}

function configurationOf(options: CollectorOptions): CollectorConfiguration {
  const { configuration, problems } = resolveConfiguration({
    database: options.database,
    synchronous: options.synchronous,
    ingest: { host: options.ingestHost, port: options.ingestPort },
    api: { host: options.apiHost, port: options.apiPort },
    freshness: { staleAfterMs: options.staleAfterMs, reconcileDeadlineMs: options.reconcileDeadlineMs },
    sources: options.sourceFreshness,
    missingGrace: options.missingGrace,
    livenessIntervalMs: options.livenessIntervalMs,
    maxBodyBytes: options.maxBodyBytes,
    ingestToken: options.ingestToken,
    readToken: options.readToken,
    insecurePublicBind: options.insecurePublicBind === true,
    jsonlFiles: options.follow ?? [],
    allowedHosts: options.allowedHost ?? [],
    jsonlStdin: options.stdin === true,
  });
  if (problems.length === 0) return configuration;
  const list = problems.map(({ path, text }) => `\n  ${path}: ${text}`).join("");
  throw new CommandError(`the configuration cannot be used:${list}`);
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** `runner:60000:20000`; a source's name may hold colons itself. */
function readSource(
  text: string,
  previous: ReadonlyMap<string, SourceConfiguration>,
): ReadonlyMap<string, SourceConfiguration> {
  const match = /^(.+):(\d{1,15}):(\d{1,15})$/.exec(text);
  if (match === null) throw new InvalidArgumentError("It must be name:staleAfterMs:heartbeatIntervalMs.");
  const [, name, staleAfterMs, heartbeatIntervalMs] = match;
  return new Map(previous).set(String(name), {
    staleAfterMs: Number(staleAfterMs),
    heartbeatIntervalMs: Number(heartbeatIntervalMs),
  });
}
