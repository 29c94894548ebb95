import type { ChildView } from "@agent-lifecycle/proto";
import { Command, Option } from "commander";
import { type Connection, follow } from "../../client/follow.ts";
import { isFound, searchText } from "../../display/child-words.ts";
import { createApiClient, DEFAULT_API_URL } from "../api-client.ts";
import { changeLine } from "../child-table.ts";
import { CommandError } from "../command-error.ts";

interface TailOptions {
  readonly url: string;
  readonly readToken?: string;
  readonly filter?: string;
  readonly json?: boolean;
}

/** `agent-lifecycle tail`: each change as one line, from now on. */
export function tailCommand(): Command {
  return new Command("tail")
    .description("print each change of a child as one line, from now on")
    .option("--url <url>", "address of the collector's API", DEFAULT_API_URL)
    .addOption(new Option("--read-token <token>", "bearer token of the API").env("AGENT_LIFECYCLE_READ_TOKEN"))
    .option("--filter <words>", "only children in whose id, name, source, state or activity all of the words occur")
    .option("--json", "print each child as one JSON object, as the API shows it")
    .addHelpText("after", '\nExample:\n  agent-lifecycle tail --filter "failed"')
    .action(async (options: TailOptions) => {
      const interrupted = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
      process.stdout.once("error", () => interrupted.abort());
      await tail(options, interrupted.signal);
    });
}

async function tail(options: TailOptions, signal: AbortSignal): Promise<void> {
  const { filter = "", json = false } = options;
  let refused: number | undefined;
  let told: Connection["kind"] = "connecting";
  const say = (words: string): void => void process.stderr.write(`agent-lifecycle: ${words}\n`);
  await follow(
    createApiClient(options),
    {
      onConnection: (connection) => {
        if (connection.kind === "refused") refused = connection.status;
        if (connection.kind === told) return;
        told = connection.kind;
        if (connection.kind === "interrupted") say(`no answer (${connection.reason}); trying again`);
        if (connection.kind === "live") say("following");
      },
      onListed: () => {},
      onChanged: (children: readonly ChildView[]) => {
        for (const child of children) {
          if (filter !== "" && !isFound(searchText(child), filter)) continue;
          process.stdout.write(`${json ? JSON.stringify(child) : changeLine(child)}\n`);
        }
      },
    },
    // The position is all that is wanted of a listing: what is known already is no news.
    { signal, lists: [{ most: 1 }] },
  );
  if (refused !== undefined) {
    throw new CommandError(
      `the collector at ${options.url} asks for a token: --read-token, or AGENT_LIFECYCLE_READ_TOKEN`,
    );
  }
}
