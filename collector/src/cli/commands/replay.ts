import { createReadStream } from "node:fs";
import {
  createJsonlReader,
  formatTimestamp,
  type JsonlItem,
  normalizeEvent,
  type SummaryView,
} from "@agent-lifecycle/proto";
import { Command } from "commander";
import { DEFAULT_CONFIGURATION } from "../../config/defaults.ts";
import {
  childOf,
  childrenOf,
  countChange,
  createProjection,
  createSummary,
  fold,
  IdentityMemory,
  type Projection,
  viewOf,
} from "../../core/index.ts";
import { replay } from "../../runtime/verification.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { renderTable } from "../child-table.ts";
import { CommandError } from "../command-error.ts";
import { EXIT_CODE } from "../exit-code.ts";
import { terminalOf } from "../terminal.ts";

interface ReplayOptions {
  readonly database?: string;
  readonly json?: boolean;
}

/** `agent-lifecycle replay`: the projection that a log of inputs folds to. */
export function replayCommand(): Command {
  return new Command("replay")
    .description("fold a JSONL file of events, or everything a collector stored, and print the projection")
    .argument("[file]", "JSONL file of events, or - for standard input")
    .option("--database <file>", `the collector's database, such as ${DEFAULT_CONFIGURATION.storage.path}`)
    .option("--json", "print one JSON object for each child")
    .addHelpText("after", "\nExample:\n  agent-lifecycle replay events.jsonl")
    .action(async (file: string | undefined, options: ReplayOptions) => {
      if ((file === undefined) === (options.database === undefined)) {
        throw new CommandError("replay takes either a JSONL file or --database");
      }
      const projection = file === undefined ? replayDatabase(options.database as string) : await replayFile(file);
      print(projection, options.json === true);
    });
}

function replayDatabase(path: string): Projection {
  const store = openSqliteStore({ path, readOnly: true });
  try {
    return store.consistently(() => replay(store).projection);
  } finally {
    store.close();
  }
}

async function replayFile(file: string): Promise<Projection> {
  const projection = createProjection();
  const identities = new IdentityMemory();
  const reader = createJsonlReader();
  const receivedAt = Date.now();
  let refused = 0;
  const take = (items: readonly JsonlItem[]): void => {
    for (const item of items) {
      const normalized = item.ok ? normalizeEvent(item.value) : undefined;
      if (normalized?.ok !== true) {
        refused += 1;
        continue;
      }
      const { event } = normalized;
      const identity = identities.answer(childOf(projection, event.source, event.childId), event);
      const result = fold(projection, { type: "event", event, receivedAt, backfill: true, identity });
      identities.remember(event, result);
    }
  };
  for await (const chunk of file === "-" ? process.stdin : createReadStream(file))
    take(reader.push(chunk as Uint8Array));
  take(reader.end());
  if (refused > 0) {
    process.stderr.write(`${refused} lines are no events: see agent-lifecycle validate ${file}\n`);
    process.exitCode = EXIT_CODE.findings;
  }
  return projection;
}

function print(projection: Projection, json: boolean): void {
  const records = [...childrenOf(projection)].filter((record) => record.state !== undefined);
  const views = records.toSorted((first, second) => first.key - second.key).map(viewOf);
  if (json) {
    for (const view of views) process.stdout.write(`${JSON.stringify(view)}\n`);
    return;
  }
  const counts = createSummary();
  for (const record of childrenOf(projection)) countChange(counts, { before: undefined, after: record });
  const summary: SummaryView = {
    ...counts,
    evidenceSeen: views.length > 0,
    position: 0,
    at: formatTimestamp(Date.now()),
  };
  process.stdout.write(renderTable(summary, views, terminalOf(process.stdout)));
}
