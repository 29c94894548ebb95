import type { Collector } from "../app.ts";
import type { LogLevel } from "../config/configuration.ts";
import { describeProblem } from "../config/problem.ts";
import type { AdminResult } from "../runtime/admin-actions.ts";
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
export function createReload(parts: ReloadParts): () => Promise<AdminResult> {
  let running: Promise<AdminResult> | undefined;
  let again = false;
  return () => {
    if (running !== undefined) {
      again = true;
      return running;
    }
    running = (async () => {
      let result: AdminResult;
      do {
        again = false;
        result = await reload(parts);
      } while (again);
      return result;
    })().finally(() => {
      running = undefined;
    });
    return running;
  };
}

const UNUSABLE = "the new configuration cannot be used; nothing was changed";

async function reload({ collector, find, setLogLevel, log }: ReloadParts): Promise<AdminResult> {
  try {
    const { configuration, problems } = find();
    if (problems.length > 0) {
      const described = problems.map(describeProblem);
      log.error({ problems: described }, UNUSABLE);
      return { ok: false, reason: "failed", text: `${UNUSABLE}: ${described.join("; ")}` };
    }
    const { applied, needsRestart, configuration: inForce } = await collector.reload(configuration);
    const isTold = log.isLevelEnabled("info");
    const tell = (): void => log.info({ applied, needsRestart }, "reloaded");
    // Told by the more talkative of both levels: whoever makes the log quiet wants to see that it was done.
    if (isTold) tell();
    setLogLevel(inForce.service.telemetry.logs.level);
    if (!isTold) tell();
    return { ok: true, details: { applied, needsRestart } };
  } catch (error) {
    log.error({ error: messageOf(error) }, UNUSABLE);
    return { ok: false, reason: "failed", text: `${UNUSABLE}: ${messageOf(error)}` };
  }
}
