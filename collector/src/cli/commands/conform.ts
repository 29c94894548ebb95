import { Command } from "commander";
import { formatReport, runDirectory } from "../../conformance/run-directory.ts";
import { EXIT_CODE } from "../exit-code.ts";

/** `agent-lifecycle conform`: runs contract vectors against this build. */
export function conformCommand(): Command {
  return new Command("conform")
    .description("run contract vectors (JSON files) and say which expectations fail")
    .argument("<directory>", "folder of vectors")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  agent-lifecycle conform test/contract/vectors")
    .action(async (directory: string, options: { readonly json?: boolean }) => {
      const report = await runDirectory(directory);
      process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : formatReport(report));
      if (report.failed > 0) process.exitCode = EXIT_CODE.findings;
    });
}
