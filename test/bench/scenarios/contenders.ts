import { expectAllApplied, startCollector } from "../processes/collector.ts";
import type { Cores } from "../processes/core-pinning.ts";
import { startOtelCollector } from "../processes/otel-collector.ts";
import type { ServerProcess } from "../processes/server-process.ts";

export interface Answered {
  readonly requests: number;
  readonly events: number;
}

/** One of those who are compared under the same load. */
export interface Contender {
  readonly server: ServerProcess;
  readonly logsUrl: string;
  /** Resolves when what was answered since the last call has also been dealt with. */
  settle(answered: Answered): Promise<void>;
  /** @throws Error when not all work was done that was settled. */
  verify(): Promise<void>;
  stop(): Promise<void>;
}

/** Ours has stored, folded and shown everything that it has answered: there is nothing to wait for. */
export async function startOwnContender(
  database: string,
  synchronous: "full" | "normal",
  cores: Cores | undefined,
): Promise<Contender> {
  const collector = await startCollector(database, { synchronous, core: cores?.server });
  let eventsInAll = 0;
  return {
    server: collector.server,
    logsUrl: collector.logsUrl,
    settle: async ({ events }) => {
      eventsInAll += events;
    },
    verify: () => expectAllApplied(collector, eventsInAll),
    stop: () => collector.server.stop(),
  };
}

/** The other's work is done when its sink has everything. */
export async function startOtelContender(
  program: string,
  folder: string,
  options: { readonly fsync: boolean; readonly cores: Cores | undefined },
): Promise<Contender> {
  const { server, logsUrl, handedOn, stop } = await startOtelCollector(program, folder, options);
  let requestsInAll = 0;
  return {
    server,
    logsUrl,
    settle: ({ requests }) => {
      requestsInAll += requests;
      return handedOn(requestsInAll);
    },
    // Settling has waited for all of it.
    verify: async () => {},
    stop,
  };
}
