import { adoptProcess } from "@agent-lifecycle/sdk";
import { Command, Option } from "commander";
import { createReporter, type ReporterOptions, tellWhatWasNotDelivered } from "../child-reporter.ts";
import { CommandError } from "../command-error.ts";
import { wholeNumber } from "../whole-number.ts";

interface AdoptOptions extends ReporterOptions {
  readonly pid: number;
  readonly interval: number;
  readonly childId?: string;
  readonly parent?: string;
  readonly root?: string;
  readonly name?: string;
}

const DELIVERY_TIMEOUT_MS = 2_000;

/** `agent-lifecycle adopt --pid`: a process that runs already, as a child of which nothing but its presence is claimed. */
export function adoptCommand(): Command {
  return new Command("adopt")
    .description("report the presence of a process that runs already; nothing else is claimed of it")
    .requiredOption("--pid <pid>", "the process", wholeNumber)
    .option("--source <source>", "who observes the child", "agent-lifecycle-adopt")
    .option("--endpoint <url>", "OTLP/HTTP endpoint (default: the OTEL_EXPORTER_OTLP_* variables, else localhost:4318)")
    .addOption(
      new Option("--ingest-token <token>", "bearer token of the collector").env("AGENT_LIFECYCLE_INGEST_TOKEN"),
    )
    .option("--fallback-jsonl <path>", "file for events that cannot be delivered, or stdout or stderr")
    .option("--child-id <id>", "identity of the child (default: a fresh UUID)")
    .option("--parent <id>", "child that delegated it")
    .option("--root <id>", "root of the parent, when the parent is none")
    .option("--name <name>", "name for people")
    .option("--interval <seconds>", "time between two looks", wholeNumber, 10)
    .addHelpText(
      "after",
      "\nRuns until the process is not there any more, or until it is interrupted. How the process ended is not known then:\n" +
        "the child is left as it is, with a note, and will be shown as silent.\n" +
        "\nExample:\n  agent-lifecycle adopt --pid 4711 --name indexer",
    )
    .action(adopt);
}

async function adopt({ pid, interval, childId, parent, root, name, ...reporting }: AdoptOptions): Promise<void> {
  const lifecycle = createReporter("adopt", reporting);
  const adopted = adoptProcess(lifecycle, {
    pid,
    intervalMs: interval * 1_000,
    ...(childId === undefined ? undefined : { childId }),
    ...(parent === undefined ? undefined : { parent: { childId: parent, rootChildId: root ?? parent } }),
    ...(name === undefined ? undefined : { name }),
  });
  if (adopted === undefined) throw new CommandError(`there is no process ${pid}`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => adopted.stop());
  await adopted.gone;
  await lifecycle.shutdown({ timeoutMs: DELIVERY_TIMEOUT_MS });
  tellWhatWasNotDelivered("adopt", lifecycle);
}
