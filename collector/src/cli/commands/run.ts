import { Command, Option } from "commander";
import { type RunChildOptions, runChild } from "../run-child.ts";

type RunOptions = Omit<RunChildOptions, "program" | "programArguments">;

/** `agent-lifecycle run -- CMD`: any command as an observed child. */
export function runCommand(): Command {
  return new Command("run")
    .description("run a command as a child and report what can be observed of it; its exit code becomes ours")
    .argument("<command>", "program to run")
    .argument("[arguments...]", "its arguments, as they are")
    .option("--source <source>", "who observes the child", "agent-lifecycle-run")
    .option("--endpoint <url>", "OTLP/HTTP endpoint (default: the OTEL_EXPORTER_OTLP_* variables, else localhost:4318)")
    .addOption(
      new Option("--ingest-token <token>", "bearer token of the collector").env("AGENT_LIFECYCLE_INGEST_TOKEN"),
    )
    .option("--fallback-jsonl <path>", "file for events that cannot be delivered, or stdout or stderr")
    .option("--child-id <id>", "identity of the child (default: a fresh UUID)")
    .option("--parent <id>", "child that delegated it")
    .option("--root <id>", "root of the parent, when the parent is none")
    .option("--name <name>", "name for people (default: the program's name)")
    .option("--record-arguments", "report the arguments too, redacted as far as a secret looks like one")
    .passThroughOptions()
    .addHelpText("after", "\nExample:\n  agent-lifecycle run --name tests -- npm test")
    .action(async (program: string, programArguments: readonly string[], options: RunOptions) => {
      process.exitCode = await runChild({ program, programArguments, ...options });
    });
}
