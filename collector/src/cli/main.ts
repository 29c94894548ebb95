import { readFile } from "node:fs/promises";
import { Command, CommanderError } from "commander";
import { messageOf } from "./command-error.ts";
import { EXIT_CODE } from "./exit-code.ts";
import { tolerateClosedOutput } from "./output.ts";

/** Each is loaded when it is called: what a server needs is nothing that `status` should wait for. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  collector: async () => (await import("./commands/collector.ts")).collectorCommand(),
  config: async () => (await import("./commands/config.ts")).configCommand(),
  run: async () => (await import("./commands/run.ts")).runCommand(),
  adopt: async () => (await import("./commands/adopt.ts")).adoptCommand(),
  ingest: async () => (await import("./commands/ingest.ts")).ingestCommand(),
  hook: async () => (await import("./commands/hook.ts")).hookCommand(),
  status: async () => (await import("./commands/status.ts")).statusCommand(),
  watch: async () => (await import("./commands/watch.ts")).watchCommand(),
  tail: async () => (await import("./commands/tail.ts")).tailCommand(),
  mcp: async () => (await import("./commands/mcp.ts")).mcpCommand(),
  validate: async () => (await import("./commands/validate.ts")).validateCommand(),
  replay: async () => (await import("./commands/replay.ts")).replayCommand(),
  verify: async () => (await import("./commands/verify.ts")).verifyCommand(),
  journal: async () => (await import("./commands/journal.ts")).journalCommand(),
  backup: async () => (await import("./commands/backup.ts")).backupCommand(),
  conform: async () => (await import("./commands/conform.ts")).conformCommand(),
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand(),
};

/** The `agent-lifecycle` program. Sets the process's exit code; never throws. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  tolerateClosedOutput();
  const program = new Command("agent-lifecycle")
    .description("what every delegated child agent is doing, and how we know")
    .version(await versionOfPackage(), "-V, --version")
    .enablePositionalOptions()
    .exitOverride();
  for (const command of await commandsFor(argv[2])) program.addCommand(neverExiting(command));
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    const unusable = argv[2] === "run" ? EXIT_CODE.wrapperFailed : EXIT_CODE.unusable;
    // Commander has already said what is wrong with the arguments; help and version are no errors.
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? EXIT_CODE.success : unusable;
      return;
    }
    process.stderr.write(`agent-lifecycle: ${messageOf(error)}\n`);
    process.exitCode = unusable;
  }
}

/** The one that is called by its name; for help, and for a name that is none, all of them. */
async function commandsFor(name: string | undefined): Promise<readonly Command[]> {
  if (name === "--version" || name === "-V") return [];
  const called = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return called === undefined ? Promise.all(Object.values(COMMANDS).map((load) => load())) : [await called()];
}

/** Subcommands, too, tell of bad arguments by throwing. */
function neverExiting(command: Command): Command {
  for (const subcommand of command.commands) neverExiting(subcommand);
  return command.exitOverride();
}

async function versionOfPackage(): Promise<string> {
  const manifest = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
