import { setTimeout as delay } from "node:timers/promises";
import { Command, Option } from "commander";
import { DEFAULT_API_URL, fetchOverview } from "../api-client.ts";
import { renderTable } from "../child-table.ts";
import { CommandError } from "../command-error.ts";
import { terminalOf } from "../terminal.ts";
import { positiveNumber } from "../whole-number.ts";

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
    .option("--interval-ms <milliseconds>", "time between two looks", positiveNumber, 1_000)
    .option("--limit <children>", "rows at most", positiveNumber, 50)
    .addHelpText("after", "\nExample:\n  agent-lifecycle watch --interval-ms 500")
    .action(async (options: WatchOptions) => {
      const interrupted = new AbortController();
      process.once("SIGINT", () => interrupted.abort());
      process.once("SIGTERM", () => interrupted.abort());
      // Nobody is left to show anything to.
      process.stdout.once("error", () => interrupted.abort());
      await watch(options, interrupted.signal);
    });
}

async function watch(options: WatchOptions, signal: AbortSignal): Promise<void> {
  let last = "";
  while (!signal.aborted) {
    const { text, facts } = await draw(options);
    // A terminal is redrawn in place; a pipe gets a new table only when a fact changed, not when ages did.
    if (process.stdout.isTTY) process.stdout.write(`\u001b[H\u001b[2J${text}`);
    else if (facts !== last) process.stdout.write(`${text}\n`);
    last = facts;
    await delay(options.intervalMs, undefined, { signal }).catch(() => {});
  }
}

async function draw(options: WatchOptions): Promise<{ readonly text: string; readonly facts: string }> {
  try {
    const { summary, children } = await fetchOverview(options, options.limit);
    const text = renderTable(summary, children, terminalOf(process.stdout));
    const facts = children.map(({ childId, state, stale, activity }) => [childId, state, stale !== null, activity]);
    return { text, facts: JSON.stringify([summary.evidenceSeen, facts]) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const text = `connection lost: ${error.message}\n`;
    return { text, facts: text };
  }
}
