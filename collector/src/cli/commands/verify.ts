import { Command } from "commander";
import { DEFAULT_CONFIGURATION } from "../../config/defaults.ts";
import { verifyStore } from "../../runtime/verification.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { EXIT_CODE } from "../exit-code.ts";

/** `agent-lifecycle verify`: whether the stored projection is what its inputs say. */
export function verifyCommand(): Command {
  return new Command("verify")
    .description("fold every stored input again and compare with the stored projection, byte for byte")
    .option("--database <file>", "the collector's database", DEFAULT_CONFIGURATION.storage.path)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  agent-lifecycle verify --database /var/lib/agent-lifecycle/collector.db")
    .action((options: { readonly database: string; readonly json?: boolean }) => {
      const store = openSqliteStore({ path: options.database, readOnly: true });
      try {
        const verification = verifyStore(store);
        const { agrees, inputs, children, differences } = verification;
        if (options.json === true) process.stdout.write(`${JSON.stringify(verification)}\n`);
        else if (agrees) {
          process.stdout.write(`verified: ${inputs} inputs replay to the stored projection of ${children} children\n`);
        } else {
          for (const { stored, replayed } of differences) {
            process.stdout.write(`- ${stored ?? "nothing"}\n+ ${replayed ?? "nothing"}\n`);
          }
          const { differingLines, differentOutcomes, missingInputs, misfiledChildren } = verification;
          process.stdout.write(
            `NOT VERIFIED: ${differingLines} records differ, ${differentOutcomes} of ${inputs} outcomes differ, ` +
              `${missingInputs} inputs are missing, ${misfiledChildren} children are misfiled\n`,
          );
        }
        if (!agrees) process.exitCode = EXIT_CODE.findings;
      } finally {
        store.close();
      }
    });
}
