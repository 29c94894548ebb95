import { readFile } from "node:fs/promises";
import { Command, CommanderError } from "commander";
import { messageOf } from "./command-error.ts";
import { adoptCommand } from "./commands/adopt.ts";
import { backupCommand } from "./commands/backup.ts";
import { collectorCommand } from "./commands/collector.ts";
import { configCommand } from "./commands/config.ts";
import { conformCommand } from "./commands/conform.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { hookCommand } from "./commands/hook.ts";
import { ingestCommand } from "./commands/ingest.ts";
import { journalCommand } from "./commands/journal.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { replayCommand } from "./commands/replay.ts";
import { runCommand } from "./commands/run.ts";
import { statusCommand } from "./commands/status.ts";
import { tailCommand } from "./commands/tail.ts";
import { validateCommand } from "./commands/validate.ts";
import { verifyCommand } from "./commands/verify.ts";
import { watchCommand } from "./commands/watch.ts";
import { EXIT_CODE } from "./exit-code.ts";
import { tolerateClosedOutput } from "./output.ts";

const COMMANDS: readonly (() => Command)[] = [
  collectorCommand,
  configCommand,
  runCommand,
  adoptCommand,
  ingestCommand,
  hookCommand,
  statusCommand,
  watchCommand,
  tailCommand,
  mcpCommand,
  validateCommand,
  replayCommand,
  verifyCommand,
  journalCommand,
  backupCommand,
  conformCommand,
  doctorCommand,
];

/** The `agent-lifecycle` program. Sets the process's exit code; never throws. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  tolerateClosedOutput();
  const program = new Command("agent-lifecycle")
    .description("what every delegated child agent is doing, and how we know")
    .version(await versionOfPackage(), "-V, --version")
    .enablePositionalOptions()
    .exitOverride();
  for (const create of COMMANDS) program.addCommand(neverExiting(create()));
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

/** Subcommands, too, tell of bad arguments by throwing. */
function neverExiting(command: Command): Command {
  for (const subcommand of command.commands) neverExiting(subcommand);
  return command.exitOverride();
}

async function versionOfPackage(): Promise<string> {
  const manifest = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
