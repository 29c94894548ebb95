import { Command } from "commander";
import { examine } from "../../doctor/examine.ts";
import type { Finding, FindingLevel } from "../../doctor/finding.ts";
import { askDestination } from "../../exporters/ask-destination.ts";
import { addCollectorFlags, applyFlags, type CollectorFlags } from "../collector-flags.ts";
import { findConfiguration } from "../configuration-file.ts";
import { EXIT_CODE } from "../exit-code.ts";
import { gatewayFindings } from "../gateway-findings.ts";
import { configOption } from "./collector.ts";

interface DoctorOptions extends CollectorFlags {
  readonly config?: string;
  readonly json?: boolean;
}

const WIDTH = "problem".length;

/** `agent-lifecycle doctor`: what a collector stands on, what is wrong with it, and what to do. */
export function doctorCommand(): Command {
  return addCollectorFlags(
    new Command("doctor")
      .description("look at ports, disk, clock, database, tokens, gateways and a running collector; change nothing")
      .addOption(configOption()),
  )
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nTakes the same options as collector. The exit code is 0 when nothing is a problem, warnings or not, and else 1." +
        "\n\nExample:\n  agent-lifecycle doctor --config /etc/agent-lifecycle/collector.yaml",
    )
    .action(async (options: DoctorOptions) => {
      const { configuration, problems, warnings, folder } = findConfiguration(options.config, (stated) =>
        applyFlags(stated, options),
      );
      const findings = await examine({
        configuration,
        problems,
        warnings,
        folder,
        askDestination,
        lookAtReceivers: gatewayFindings,
        nodeVersion: process.versions.node,
        ...(options.readToken === undefined ? undefined : { readToken: options.readToken }),
      });
      const healthy = !findings.some(({ level }) => level === "problem");
      process.stdout.write(options.json === true ? `${JSON.stringify({ healthy, findings })}\n` : render(findings));
      if (!healthy) process.exitCode = EXIT_CODE.findings;
    });
}

function render(findings: readonly Finding[]): string {
  const lines = findings.map(({ check, level, text, advice }) => {
    const toDo = advice === undefined ? "" : ` → ${printable(advice)}`;
    return `${level.padEnd(WIDTH)}  ${check}: ${printable(text)}${toDo}\n`;
  });
  const count = (wanted: FindingLevel): string => {
    const found = findings.filter(({ level }) => level === wanted).length;
    return `${found} ${wanted}${found === 1 ? "" : "s"}`;
  };
  return `${lines.join("")}\n${count("problem")}, ${count("warning")}\n`;
}

/** Texts name files and programs of others: what would move the cursor is not printed. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "�");
}
