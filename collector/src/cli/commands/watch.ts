import { setTimeout as delay } from "node:timers/promises";
import { Command, Option } from "commander";
import { DEFAULT_API_URL, fetchOverview } from "../api-client.ts";
import { renderTable } from "../child-table.ts";
import { CommandError } from "../command-error.ts";
import { terminalOf } from "../terminal.ts";
import { watchTerminal } from "../watch/watch-terminal.ts";
import { positiveNumber } from "../whole-number.ts";

interface WatchOptions {
  readonly url: string;
  readonly readToken?: string;
  readonly intervalMs: number;
  readonly limit: number;
  readonly plain?: boolean;
}

/** `agent-lifecycle watch`: a live view for people at a terminal; elsewhere the table, anew when a fact changed. */
export function watchCommand(): Command {
  return new Command("watch")
    .description("show the children and keep showing them, live")
    .option("--url <url>", "address of the collector's API", DEFAULT_API_URL)
    .addOption(new Option("--read-token <token>", "bearer token of the API").env("AGENT_LIFECYCLE_READ_TOKEN"))
    .option(
      "--interval-ms <milliseconds>",
      "time between two looks, where the output is no terminal",
      positiveNumber,
      1_000,
    )
    .option("--plain", "no live view, also at a terminal")
    .option(
      "--limit <children>",
      "rows at most; at a terminal, of live ones and of ended ones each",
      positiveNumber,
      500,
    )
    .addHelpText("after", "\nExample:\n  agent-lifecycle watch --interval-ms 500")
    .action(async (options: WatchOptions) => {
      const interrupted = new AbortController();
      process.once("SIGINT", () => interrupted.abort());
      process.once("SIGTERM", () => interrupted.abort());
      // Nobody is left to show anything to.
      process.stdout.once("error", () => interrupted.abort());
      const isTerminal = process.stdout.isTTY && process.stdin.isTTY && options.plain !== true;
      await (isTerminal ? watchTerminal(options, interrupted.signal) : watch(options, interrupted.signal));
    });
}

async function watch(options: WatchOptions, signal: AbortSignal): Promise<void> {
  let last: Drawing = { text: "", facts: "" };
  while (!signal.aborted) {
    const drawing = await draw(options, last);
    // A new table only when a fact changed, not when ages did.
    if (drawing.facts !== last.facts) process.stdout.write(`${drawing.lost ?? drawing.text}\n`);
    last = drawing;
    await delay(options.intervalMs, undefined, { signal }).catch(() => {});
  }
}

interface Drawing {
  /** The newest table. */
  readonly text: string;
  /** What of it is no age: a change here is news. */
  readonly facts: string;
  /** Set while the collector does not answer, and the table is old. */
  readonly lost?: string;
}

async function draw(options: WatchOptions, { text: oldTable }: Drawing): Promise<Drawing> {
  try {
    const { summary, children } = await fetchOverview(options, options.limit);
    const text = renderTable(summary, children, terminalOf(process.stdout));
    const facts = children.map(({ childId, state, stale, activity }) => [childId, state, stale !== null, activity]);
    return { text, facts: JSON.stringify([summary.evidenceSeen, facts]) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const age = oldTable === "" ? "" : "; what is shown is old";
    return { text: oldTable, facts: "no answer", lost: `no answer${age}: ${error.message}\n` };
  }
}
