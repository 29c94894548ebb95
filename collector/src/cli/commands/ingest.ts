import { join } from "node:path";
import { ADAPTERS, type Adapter, adapterFor } from "@agent-lifecycle/sdk/adapters";
import { hookSpoolDirectory } from "@agent-lifecycle/sdk/hook";
import { Command, Option } from "commander";
import { makeFolder } from "../../files/make-folder.ts";
import { CommandError } from "../command-error.ts";
import { EXIT_CODE } from "../exit-code.ts";
import { type IngestSettings, runIngest } from "../ingest/run-ingest.ts";
import { listenForStop } from "../stop-signals.ts";

interface IngestOptions {
  readonly format: string;
  readonly source?: string;
  readonly endpoint?: string;
  readonly ingestToken?: string;
  readonly jsonl?: string;
  readonly checkpoint?: string;
  readonly follow?: boolean;
  readonly run?: boolean;
}

/** Formats that are read from the spool of hooks, and whose. */
const SPOOLED: Readonly<Record<string, string>> = { "claude-code-hooks": "claude-code", "codex-hooks": "codex" };

/** `agent-lifecycle ingest`: what another system says, as lifecycle events. */
export function ingestCommand(): Command {
  return new Command("ingest")
    .description("turn what another system says into lifecycle events and deliver them")
    .argument("[input...]", "a file, a folder of a spool, or - for standard input; with --run, a command")
    .addOption(
      new Option("--format <name>", "what the input is")
        .choices(ADAPTERS.map(({ format }) => format))
        .makeOptionMandatory(),
    )
    .option("--source <source>", "who observes the children (default: the system's name)")
    .option("--endpoint <url>", "OTLP/HTTP endpoint (default: the OTEL_EXPORTER_OTLP_* variables, else localhost:4318)")
    .addOption(
      new Option("--ingest-token <token>", "bearer token of the collector").env("AGENT_LIFECYCLE_INGEST_TOKEN"),
    )
    .option("--jsonl <path>", "write events there (or stdout, stderr); with an endpoint: those that it does not take")
    .option("--checkpoint <path>", "file that keeps how far was read, to read on there")
    .option("--follow", "go on with what is appended until a signal comes")
    .option("--run", "the input is a command whose output is read; its exit code counts, and becomes ours")
    .passThroughOptions()
    .addHelpText(
      "after",
      "\nThe hooks' formats read the spool of the hooks when no input is named, and keep their checkpoint there.\n" +
        "\nExit codes: 0 everything was understood and delivered, 1 some of it was not understood, 2 not delivered.\n" +
        "\nExamples:\n  agent-lifecycle ingest --format codex-exec --run -- codex exec --json 'fix the tests'" +
        "\n  agent-lifecycle ingest --format claude-code-hooks --follow" +
        "\n  curl -sN http://127.0.0.1:4096/event | agent-lifecycle ingest --format opencode -",
    )
    .action(async (input: readonly string[], options: IngestOptions) => {
      const adapter = adapterFor(options.format) as Adapter;
      const settings = settingsOf(adapter, input, options);
      const { clean, delivered, exitCode } = await runIngest(settings);
      process.exitCode = exitCode ?? (!delivered ? EXIT_CODE.unusable : clean ? EXIT_CODE.success : EXIT_CODE.findings);
    });
}

function settingsOf(adapter: Adapter, input: readonly string[], options: IngestOptions): IngestSettings {
  const { source, endpoint, ingestToken, jsonl, run } = options;
  const [first, ...others] = input;
  const base = {
    adapter,
    source: source ?? adapter.defaultSource,
    endpoint,
    ingestToken,
    jsonl,
    // A command is told of a signal, and ends the reading by its own end.
    stopped: run === true ? new Promise(() => {}) : listenForStop(["SIGTERM", "SIGINT"]).first,
  };
  if (run === true) {
    if (first === undefined) throw new CommandError("--run needs a command");
    if (options.follow === true || options.checkpoint !== undefined) {
      throw new CommandError("--follow and --checkpoint are for files, not for --run");
    }
    return { ...base, input: { kind: "command", program: first, programArguments: others } };
  }
  if (others.length > 0) throw new CommandError("one input at a time; a command needs --run");
  return { ...base, input: inputOf(adapter, first, options) };
}

function inputOf(adapter: Adapter, first: string | undefined, options: IngestOptions): IngestSettings["input"] {
  const agent = SPOOLED[adapter.format];
  // Hooks may not have spoken yet.
  const spool = first === undefined && agent !== undefined ? hookSpoolDirectory(agent, process.env) : undefined;
  if (spool !== undefined) makeFolder(spool, 0o700);
  const path = first ?? spool ?? "-";
  if (path === "-") {
    if (options.follow === true || options.checkpoint !== undefined) {
      throw new CommandError("standard input cannot be read again: --follow and --checkpoint are for files");
    }
    return { kind: "stdin" };
  }
  const checkpoint = options.checkpoint ?? (spool === undefined ? undefined : join(spool, "checkpoint"));
  return { kind: "file", path, follow: options.follow === true, checkpoint };
}
