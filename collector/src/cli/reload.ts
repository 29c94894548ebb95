import type { Collector } from "../app.ts";
import type { CollectorConfiguration, LogLevel } from "../config/configuration.ts";
import { describeProblem } from "../config/problem.ts";
import { messageOf } from "./command-error.ts";
import type { FoundConfiguration } from "./configuration-file.ts";

export interface ReloadParts {
  readonly collector: Pick<Collector, "reload">;
  /** Reads the configuration again. */
  readonly find: () => FoundConfiguration;
  readonly setLogLevel: (level: LogLevel) => void;
  readonly log: {
    info(members: object, message: string): void;
    error(members: object, message: string): void;
    isLevelEnabled(level: "info"): boolean;
  };
}

/**
 * Makes the function that reads the configuration again and puts in force what can be while the collector runs. It never
 * rejects: a configuration with a problem changes nothing, and the log says why. Calls that come while it works are one.
 */
export function createReload(parts: ReloadParts): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  return () => {
    if (running !== undefined) {
      again = true;
      return running;
    }
    running = (async () => {
      do {
        again = false;
        await reload(parts);
      } while (again);
    })().finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function reload({ collector, find, setLogLevel, log }: ReloadParts): Promise<void> {
  let next: CollectorConfiguration;
  try {
    const { configuration, problems } = find();
    if (problems.length > 0) {
      log.error(
        { problems: problems.map(describeProblem) },
        "the new configuration cannot be used; nothing was changed",
      );
      return;
    }
    next = configuration;
    const plan = await collector.reload(next);
    const isTold = log.isLevelEnabled("info");
    const tell = (): void => log.info({ applied: plan.applied, needsRestart: plan.needsRestart }, "reloaded");
    const { level } = plan.configuration.service.telemetry.logs;
    // Told by the more talkative of both levels: whoever makes the log quiet wants to see that it was done.
    if (isTold) tell();
    setLogLevel(level);
    if (!isTold) tell();
  } catch (error) {
    log.error({ error: messageOf(error) }, "the new configuration cannot be used; nothing was changed");
  }
}
