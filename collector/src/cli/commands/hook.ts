import { randomUUID } from "node:crypto";
import { readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { runHookShim } from "@agent-lifecycle/sdk/hook";
import { Argument, Command } from "commander";
import { makeFolder } from "../../files/make-folder.ts";
import {
  HOOKED_AGENTS,
  type HookedAgent,
  UnusableSettings,
  withHooks,
  withoutHooks,
} from "../../hooks/hook-settings.ts";
import { CommandError } from "../command-error.ts";

interface HookOptions {
  readonly project?: boolean;
  readonly settings?: string;
  readonly dryRun?: boolean;
}

const AGENTS = Object.keys(HOOKED_AGENTS) as readonly HookedAgent[];

/** `agent-lifecycle hook`: the hooks of agents, and their installation. */
export function hookCommand(): Command {
  const hook = new Command("hook")
    .description("be a hook of an agent, or install one")
    .addHelpText("after", "\nExample:\n  agent-lifecycle hook install claude-code");
  for (const agent of AGENTS) {
    hook.addCommand(
      new Command(agent)
        .description(`what ${agent} calls: reads a payload from standard input and spools what it says`)
        .action(() => runHookShim(agent)),
    );
  }
  const editing = (name: string, description: string): Command =>
    new Command(name)
      .description(description)
      .addArgument(new Argument("<agent>", "whose hooks").choices(AGENTS))
      .option("--project", "in the settings of the project in this folder, not in the user's")
      .option("--settings <path>", "in this file")
      .option("--dry-run", "print the settings as they would be, and leave the file as it is");
  hook.addCommand(
    editing("install", "add the hooks to the agent's settings; twice is as good as once")
      .option("--command <command>", "how the agent starts this program", "agent-lifecycle")
      .addHelpText(
        "after",
        "\nThe hooks spool; the spool is read by: agent-lifecycle ingest --format claude-code-hooks --follow\n" +
          "\nExample:\n  agent-lifecycle hook install claude-code",
      )
      .action((agent: HookedAgent, options: HookOptions & { readonly command: string }) => {
        const call = `${options.command} hook ${agent}`;
        if (!options.command.includes("agent-lifecycle")) {
          throw new CommandError("--command must name agent-lifecycle, or the hooks could not be found again");
        }
        change(agent, options, (text) => withHooks(text, agent, call));
      }),
  );
  hook.addCommand(
    editing("uninstall", "take the hooks out of the agent's settings, and nothing else").action(
      (agent: HookedAgent, options: HookOptions) => change(agent, options, (text) => withoutHooks(text, agent)),
    ),
  );
  return hook;
}

function change(agent: HookedAgent, options: HookOptions, edit: (text: string) => string): void {
  const { settingsFile } = HOOKED_AGENTS[agent];
  const path = resolve(options.settings ?? join(options.project === true ? process.cwd() : homedir(), settingsFile));
  const before = textOf(path);
  let after: string;
  try {
    after = edit(before ?? "{}\n");
  } catch (error) {
    if (error instanceof UnusableSettings) throw new CommandError(`${path} is left as it is: ${error.message}`);
    throw error;
  }
  if (options.dryRun === true) process.stdout.write(after);
  else if (after === before || (before === undefined && after === "{}\n")) {
    process.stdout.write(`${path}: nothing to change\n`);
  } else {
    replace(path, after);
    process.stdout.write(`${path}: changed\n`);
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** As a whole or not at all. A link stays a link, and the file keeps its mode. */
function replace(path: string, text: string): void {
  makeFolder(dirname(path));
  let target = path;
  let mode = 0o600;
  try {
    target = realpathSync(path);
    mode = statSync(target).mode & 0o777;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const beside = `${target}.${randomUUID()}`;
  writeFileSync(beside, text, { mode });
  renameSync(beside, target);
}
