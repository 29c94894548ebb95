import { setTimeout as delay } from "node:timers/promises";
import { Command, Option } from "commander";
import { DEFAULT_API_URL, fetchOverview } from "../api-client.ts";
import { renderTable } from "../child-table.ts";
import { CommandError } from "../command-error.ts";
import { terminalOf } from "../terminal.ts";

interface WatchOptions {
  readonly url: string;
  readonly token?: string;
  readonly intervalMs: number;
  readonly limit: number;
}

/** `agent-lifecycle watch`: the table again and again, until interrupted. */
export function watchCommand(): Command {
  return new Command("watch")
    .description("show the newest children and keep showing them")
    .option("--url <url>", "address of the collector's API", DEFAULT_API_URL)
    .addOption(new Option("--token <token>", "bearer token of the API").env("AGENT_LIFECYCLE_READ_TOKEN"))
    .option("--interval-ms <milliseconds>", "time between two looks", Number, 1_000)
    .option("--limit <children>", "rows at most", Number, 50)
    .action(async (options: WatchOptions) => {
      const interrupted = new AbortController();
      process.once("SIGINT", () => interrupted.abort());
      process.once("SIGTERM", () => interrupted.abort());
      await watch(options, interrupted.signal);
    });
}

async function watch(options: WatchOptions, signal: AbortSignal): Promise<void> {
  let last = "";
  while (!signal.aborted) {
    const drawn = await draw(options);
    // A terminal is redrawn in place; a pipe gets a new table only when something changed.
    if (process.stdout.isTTY) process.stdout.write(`\u001b[H\u001b[2J${drawn}`);
    else if (drawn !== last) process.stdout.write(drawn);
    last = drawn;
    await delay(options.intervalMs, undefined, { signal, ref: true }).catch(() => {});
  }
}

async function draw(options: WatchOptions): Promise<string> {
  try {
    const { summary, children } = await fetchOverview(options, options.limit);
    return renderTable(summary, children, terminalOf(process.stdout));
  } catch (error) {
    if (error instanceof CommandError) return `connection lost: ${error.message}\n`;
    throw error;
  }
}
