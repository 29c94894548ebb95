import { setTimeout as delay } from "node:timers/promises";
import type { CollectorConfiguration } from "../config/configuration.ts";
import { type ConfigurationProblem, describeProblem } from "../config/problem.ts";
import { configuredPlugins } from "../plugins/configured-plugins.ts";
import { type Clock, SYSTEM_CLOCK } from "../runtime/clock.ts";
import { checkAuthorities } from "./check-authorities.ts";
import { checkCertificates } from "./check-certificates.ts";
import { checkClock, type Wait } from "./check-clock.ts";
import { checkDatabase } from "./check-database.ts";
import { type AskDestination, checkExporters } from "./check-exporters.ts";
import { checkFollowedFiles } from "./check-followed-files.ts";
import { checkModules } from "./check-modules.ts";
import { checkPlatform } from "./check-platform.ts";
import { checkPorts } from "./check-ports.ts";
import { checkRunning, isCollectorAt } from "./check-running.ts";
import { checkStorage } from "./check-storage.ts";
import { checkWriter } from "./check-writer.ts";
import { type Finding, ok, problem, sentenceOf, warning } from "./finding.ts";
import { type ConfiguredListener, configuredListeners } from "./listeners.ts";

export interface ExaminationOptions {
  readonly configuration: CollectorConfiguration;
  /** What was already found to be wrong with it, the files of tokens and certificates that it names among it. */
  readonly problems: readonly ConfigurationProblem[];
  /** What was found to be unwise. */
  readonly warnings: readonly ConfigurationProblem[];
  /** The folder that paths of modules refer to. Absolute. */
  readonly folder: string;
  /** How destinations of exporters are asked. Default: they are not. */
  readonly askDestination?: AskDestination;
  /** For asking a running collector, where it wants a token. */
  readonly readToken?: string;
  /** Looks at what configured receivers connect to: the one who asks knows how. Default: nothing is looked at. */
  readonly lookAtReceivers?: (configuration: CollectorConfiguration) => Promise<readonly Finding[]>;
  /** As in `process.versions.node`. */
  readonly nodeVersion: string;
  /** Default: the system's. */
  readonly clock?: Clock;
  readonly wait?: Wait;
}

const SYSTEM_WAIT: Wait = async (ms) => {
  await delay(ms);
};

/**
 * Looks at all that a collector with this configuration stands on, and at one that runs with it. Changes nothing that
 * is stored. Finds everything, not only the first thing. Never rejects: what cannot be looked at is a finding too.
 */
export async function examine(options: ExaminationOptions): Promise<readonly Finding[]> {
  const {
    configuration,
    folder,
    readToken,
    nodeVersion,
    askDestination: ask,
    clock = SYSTEM_CLOCK,
    wait = SYSTEM_WAIT,
  } = options;
  const { storage, limits } = configuration;
  const listeners = configuredListeners(configuration);
  const api = listeners.find(({ name }) => name === "API");
  const isRunning = api !== undefined && api.endpoint.port !== 0 && (await isCollectorAt(api));
  const looks: readonly (readonly [check: string, look: () => Looked])[] = [
    ["node", () => checkPlatform(nodeVersion)],
    ["clock", () => checkClock(clock, wait)],
    ["configuration", () => checkConfiguration(options)],
    ["certificate", () => checkCertificates(listeners, clock.wallNow())],
    ["storage", () => checkStorage(storage.path)],
    ["database", () => checkDatabase(storage.path, clock.wallNow())],
    ["writer", () => checkWriter(storage.path, isRunning)],
    ["port", () => checkPorts(listeners, isRunning)],
    ["collector", () => checkCollector(api, isRunning, limits, readToken)],
    ["file", () => checkFollowedFiles(configuration)],
    ["exporter", () => (ask === undefined ? [] : checkExporters(configuration, ask))],
    ["receiver", () => options.lookAtReceivers?.(configuration) ?? []],
    ["authority", () => checkAuthorities(configuration, clock, isRunning ? api : undefined, readToken)],
    ["module", () => checkModules(configuredPlugins(configuration), folder)],
  ];
  const findings: Finding[] = [];
  for (const [check, look] of looks) findings.push(...(await tried(check, look)));
  return findings;
}

type Looked = readonly Finding[] | Promise<readonly Finding[]>;

async function tried(check: string, look: () => Looked): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [problem(check, `could not be looked at: ${sentenceOf(error)}`, "look at it yourself")];
  }
}

function checkConfiguration({ configuration, problems, warnings }: ExaminationOptions): readonly Finding[] {
  const { tokens, certificates } = configuration.access;
  const nobody = "no tokens: whoever reaches a listener may send and read";
  const grants = [
    ...(tokens.length === 0 ? [] : [`${tokens.length} tokens`]),
    ...(certificates.length === 0 ? [] : [`${certificates.length} client certificates`]),
  ];
  const access = grants.length === 0 ? nobody : grants.join(", ");
  return [
    ...problems.map((found) =>
      problem("configuration", describeProblem(found), "correct it: the collector does not start with it"),
    ),
    ...warnings.map((found) => warning("configuration", describeProblem(found), "change it when you can")),
    ...(problems.length === 0 ? [ok("configuration", `can be used; ${access}`)] : []),
  ];
}

function checkCollector(
  api: ConfiguredListener | undefined,
  isRunning: boolean,
  limits: CollectorConfiguration["limits"],
  readToken: string | undefined,
): Looked {
  if (api === undefined || !isRunning) return [ok("collector", "none runs at the API address")];
  return checkRunning(api, limits, readToken);
}
