import { Command, CommanderError } from "commander";
import { messageOf } from "./command-error.ts";
import { collectorCommand } from "./commands/collector.ts";
import { conformCommand } from "./commands/conform.ts";
import { replayCommand } from "./commands/replay.ts";
import { runCommand } from "./commands/run.ts";
import { statusCommand } from "./commands/status.ts";
import { validateCommand } from "./commands/validate.ts";
import { verifyCommand } from "./commands/verify.ts";
import { watchCommand } from "./commands/watch.ts";
import { EXIT_CODE } from "./exit-code.ts";
import { tolerateClosedOutput } from "./output.ts";

const COMMANDS: readonly (() => Command)[] = [
  collectorCommand,
  runCommand,
  statusCommand,
  watchCommand,
  validateCommand,
  replayCommand,
  verifyCommand,
  conformCommand,
];

/** The `agent-lifecycle` program. Sets the process's exit code; never throws. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  tolerateClosedOutput();
  const program = new Command("agent-lifecycle")
    .description("what every delegated child agent is doing, and how we know")
    .enablePositionalOptions()
    .exitOverride();
  for (const create of COMMANDS) program.addCommand(create().exitOverride());
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // Commander has already said what is wrong with the arguments; help and version are no errors.
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? EXIT_CODE.success : EXIT_CODE.unusable;
      return;
    }
    process.stderr.write(`agent-lifecycle: ${messageOf(error)}\n`);
    process.exitCode = EXIT_CODE.unusable;
  }
}
