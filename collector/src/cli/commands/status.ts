import type { ChildView, SummaryView } from "@agent-lifecycle/proto";
import { Command, Option } from "commander";
import { DEFAULT_API_URL, fetchOverview } from "../api-client.ts";
import { renderTable } from "../child-table.ts";
import { EXIT_CODE } from "../exit-code.ts";
import { terminalOf } from "../terminal.ts";
import { todoText } from "../todo-lines.ts";
import { positiveNumber } from "../whole-number.ts";

const FINDINGS = ["lost", "failed", "stale", "waiting"] as const;

type Finding = (typeof FINDINGS)[number];

interface StatusOptions {
  readonly url: string;
  readonly readToken?: string;
  readonly limit: number;
  readonly json?: boolean;
  readonly format: "table" | "json" | "todo";
  readonly failOn?: readonly string[];
}

/** `agent-lifecycle status`: one look at the newest children. */
export function statusCommand(): Command {
  return new Command("status")
    .description("show the newest children once")
    .option("--url <url>", "address of the collector's API", DEFAULT_API_URL)
    .addOption(new Option("--read-token <token>", "bearer token of the API").env("AGENT_LIFECYCLE_READ_TOKEN"))
    .option("--limit <children>", "rows at most", positiveNumber, 200)
    .addOption(
      new Option("--format <format>", "todo: display-only lines for hosts that can only show text")
        .choices(["table", "json", "todo"])
        .default("table"),
    )
    .option("--json", "as --format json: print summary and children as one JSON object")
    .option("--fail-on <what...>", `exit with 1 when a child is any of: ${FINDINGS.join(", ")}`)
    .addHelpText("after", "\nExample:\n  agent-lifecycle status --fail-on lost failed && echo all well")
    .action(async (options: StatusOptions, command: Command) => {
      const wanted = findingsOf(options.failOn ?? [], command);
      const overview = await fetchOverview(options, options.limit);
      const { summary, children } = overview;
      if (options.json === true || options.format === "json") {
        process.stdout.write(`${JSON.stringify({ summary, children })}\n`);
      } else if (options.format === "todo") {
        process.stdout.write(todoText(summary, children, Date.parse(summary.at)));
      } else {
        process.stdout.write(renderTable(overview.summary, overview.children, terminalOf(process.stdout)));
        if (overview.isCut) process.stdout.write(`only the newest ${overview.children.length} are shown\n`);
      }
      if (wanted.some((finding) => isFound(finding, overview.summary, overview.children))) {
        process.exitCode = EXIT_CODE.findings;
      }
    });
}

function findingsOf(stated: readonly string[], command: Command): readonly Finding[] {
  return stated
    .flatMap((text) => text.split(","))
    .map((text) => {
      const finding = FINDINGS.find((known) => known === text);
      return (
        finding ??
        command.error(`--fail-on takes ${FINDINGS.join(", ")}, not ${text}`, { exitCode: EXIT_CODE.unusable })
      );
    });
}

function isFound(finding: Finding, summary: SummaryView, children: readonly ChildView[]): boolean {
  if (finding === "stale") return summary.stale > 0 || children.some((child) => child.stale !== null);
  return summary.byState[finding] > 0;
}
