import { Command } from "commander";
import { DEFAULT_CONFIGURATION } from "../../config/defaults.ts";
import { BackupExistsError, backupDatabase } from "../../store/sqlite/backup-database.ts";
import { CommandError } from "../command-error.ts";

interface BackupCommandOptions {
  readonly database: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** `agent-lifecycle backup`: a copy of the database as of one moment, while a collector may be writing to it. */
export function backupCommand(): Command {
  return new Command("backup")
    .description("copy the database as of one moment; a collector may be writing to it")
    .argument("<file>", "where the copy goes")
    .option("--database <file>", "the collector's database", DEFAULT_CONFIGURATION.storage.path)
    .option("--force", "replace a file that is there")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  agent-lifecycle backup --database collector.db backups/2026-12-01.db")
    .action((destination: string, { database, force, json }: BackupCommandOptions) => {
      const backup = made(() => backupDatabase({ database, destination, overwrite: force === true }));
      if (json === true) process.stdout.write(`${JSON.stringify(backup)}\n`);
      else process.stdout.write(`copied ${backup.inputs} inputs, ${backup.bytes} bytes, to ${backup.path}\n`);
    });
}

function made<Result>(make: () => Result): Result {
  try {
    return make();
  } catch (error) {
    if (error instanceof BackupExistsError) throw new CommandError(`${error.message}: say --force to replace it`);
    throw error;
  }
}
