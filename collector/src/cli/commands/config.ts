import { Command } from "commander";
import { stringify } from "yaml";
import { printableConfiguration } from "../../config/print.ts";
import { type ConfigurationProblem, describeProblem } from "../../config/problem.ts";
import { readConfigurationSchema } from "../../config/schema.ts";
import { CommandError } from "../command-error.ts";
import { findConfiguration, requireSound } from "../configuration-file.ts";
import { EXIT_CODE } from "../exit-code.ts";
import { configOption } from "./collector.ts";

interface ConfigOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** `agent-lifecycle config`: what the collector would run with, and what is wrong with it. */
export function configCommand(): Command {
  const command = new Command("config")
    .description("show and check the collector's configuration")
    .addHelpText("after", "\nExample:\n  agent-lifecycle config check --config collector.yaml");
  command.addCommand(printCommand()).addCommand(checkCommand());
  return command;
}

function printCommand(): Command {
  return new Command("print")
    .description("print the configuration in force, every default included, without secrets")
    .addOption(configOption())
    .option("--json", "print JSON instead of YAML")
    .addHelpText("after", "\nExample:\n  agent-lifecycle config print --config collector.yaml")
    .action(({ config, json }: ConfigOptions) => {
      const found = findConfiguration(config);
      const configuration = requireSound(found, config);
      const printable = printableConfiguration(configuration, readConfigurationSchema(), found.isFromEnvironment);
      process.stdout.write(json === true ? `${JSON.stringify(printable)}\n` : stringify(printable));
    });
}

function checkCommand(): Command {
  return new Command("check")
    .description("find everything that is wrong with a configuration file")
    .addOption(configOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  agent-lifecycle config check --config collector.yaml")
    .action(({ config, json }: ConfigOptions) => {
      if (config === undefined)
        throw new CommandError("config check needs a file: --config, or AGENT_LIFECYCLE_CONFIG");
      const { problems, warnings } = findConfiguration(config);
      if (json === true) {
        process.stdout.write(`${JSON.stringify({ sound: problems.length === 0, problems, warnings })}\n`);
      } else {
        const lines = [
          ...problems.map((problem) => lineOf(config, problem)),
          ...warnings.map((warning) => `warning: ${lineOf(config, warning)}`),
          ...(problems.length === 0 ? [`${config} can be used`] : []),
        ];
        process.stdout.write(`${lines.join("\n")}\n`);
      }
      if (problems.length > 0) process.exitCode = EXIT_CODE.findings;
    });
}

/** As compilers write it: editors jump to `file:line:column`. */
function lineOf(file: string, problem: ConfigurationProblem): string {
  return `${file}:${problem.position === undefined ? " " : ""}${describeProblem(problem)}`;
}
