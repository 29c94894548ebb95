import { type JournalRepair, repairJournal } from "@agent-lifecycle/sdk/journal";
import { Command } from "commander";
import { EXIT_CODE } from "../exit-code.ts";

interface RepairCommandOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `agent-lifecycle journal`: what is to be done with journals beside writing and reading them. */
export function journalCommand(): Command {
  const journal = new Command("journal")
    .description("look after journals of events")
    .addHelpText("after", "\nExample:\n  agent-lifecycle journal repair events.jsonl");
  journal.addCommand(
    new Command("repair")
      .description("set aside what does not belong in a journal, so that it can be appended to again")
      .argument("<file>", "the journal")
      .option("--dry-run", "only say what would be done; the exit code is 1 when there is something")
      .option("--json", "print one JSON object")
      .addHelpText(
        "after",
        "\nNothing is thrown away: broken bytes go, as they are, to a file beside the journal.\n" +
          "\nExample:\n  agent-lifecycle journal repair events.jsonl",
      )
      .action((path: string, { dryRun, json }: RepairCommandOptions) => {
        const repair = repairJournal({ path, dryRun: dryRun === true });
        if (json === true) process.stdout.write(`${JSON.stringify(repair)}\n`);
        else process.stdout.write(described(repair, dryRun === true));
        if (dryRun === true && repair.broken > 0) process.exitCode = EXIT_CODE.findings;
      }),
  );
  return journal;
}

function described({ lines, broken, damages, setAside }: JournalRepair, dryRun: boolean): string {
  if (broken === 0) return `the journal is sound: ${lines} lines\n`;
  const found = damages.map(
    ({ problem, byteOffset, bytes }) => `  byte ${byteOffset}: ${problem.replaceAll("_", " ")}, ${bytes} bytes`,
  );
  if (broken > damages.length) found.push(`  and ${broken - damages.length} more`);
  const done = dryRun ? `${broken} broken lines; ${lines} are sound` : `kept ${lines} lines, set ${broken} aside`;
  return `${done}${setAside === undefined ? "" : ` in ${setAside}`}\n${found.join("\n")}\n`;
}
