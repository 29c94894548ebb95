import jsonc from "jsonc-parser";

export type HookedAgent = "claude-code" | "codex";

interface AgentHooks {
  /** Below the home folder, or that of a project. */
  readonly settingsFile: string;
  readonly events: readonly string[];
}

/** The agents whose hooks can be installed, the file that names them, and the hooks that say something. */
export const HOOKED_AGENTS: Readonly<Record<HookedAgent, AgentHooks>> = {
  "claude-code": {
    settingsFile: ".claude/settings.json",
    events: [
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "PostToolUseFailure",
      "PermissionRequest",
      "Notification",
      "SubagentStart",
      "SubagentStop",
      "Stop",
      "StopFailure",
      "TeammateIdle",
      "SessionEnd",
    ],
  },
  codex: {
    settingsFile: ".codex/hooks.json",
    events: [
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "PermissionRequest",
      "SubagentStart",
      "SubagentStop",
      "Stop",
    ],
  },
};

/** The agent kills a hook that takes longer, seconds. */
const TIMEOUT_SECONDS = 5;

/** Settings that no editing can be right about. */
export class UnusableSettings extends Error {}

/**
 * Adds our hook to each event that lacks it. Everything else stays as it is, comments and layout included.
 * @throws UnusableSettings when the text is no JSON object, or its hooks are not what the agent documents.
 */
export function withHooks(text: string, agent: HookedAgent, command: string): string {
  const original = text.trim() === "" ? "{}\n" : text;
  let edited = original;
  for (const event of HOOKED_AGENTS[agent].events) {
    const matchers = matchersOf(edited, event);
    if (matchers?.some((matcher) => isOurs(matcher, agent)) === true) continue;
    const entry = { hooks: [{ type: "command", command, timeout: TIMEOUT_SECONDS }] };
    edited =
      matchers === undefined
        ? edit(edited, ["hooks", event], [entry])
        : edit(edited, ["hooks", event, matchers.length], entry, true);
  }
  return edited;
}

/** Takes our hooks out, and what is empty without them. @throws UnusableSettings as `withHooks`. */
export function withoutHooks(text: string, agent: HookedAgent): string {
  let edited = text;
  const { hooks } = settingsOf(edited);
  for (const event of Object.keys(hooks ?? {})) {
    const matchers = matchersOf(edited, event) ?? [];
    const before = edited;
    for (let index = matchers.length - 1; index >= 0; index -= 1) edited = withoutOurs(edited, agent, event, index);
    if (edited !== before && matchersOf(edited, event)?.length === 0)
      edited = edit(edited, ["hooks", event], undefined);
  }
  const left = settingsOf(edited).hooks;
  const isEmpty = edited !== text && left !== undefined && Object.keys(left).length === 0;
  return isEmpty ? edit(edited, ["hooks"], undefined) : edited;
}

function withoutOurs(text: string, agent: HookedAgent, event: string, index: number): string {
  const matcher = matchersOf(text, event)?.[index];
  const commands = commandsOf(matcher);
  const ours = commands.flatMap((command, at) => (isOurCommand(command, agent) ? [at] : []));
  if (ours.length === 0) return text;
  if (ours.length === commands.length) return edit(text, ["hooks", event, index], undefined);
  return ours.reduceRight((edited, at) => edit(edited, ["hooks", event, index, "hooks", at], undefined), text);
}

function isOurs(matcher: unknown, agent: HookedAgent): boolean {
  return commandsOf(matcher).some((command) => isOurCommand(command, agent));
}

function isOurCommand(command: unknown, agent: HookedAgent): boolean {
  if (!isMembers(command) || typeof command.command !== "string") return false;
  return command.command.includes("agent-lifecycle") && command.command.trimEnd().endsWith(` hook ${agent}`);
}

function commandsOf(matcher: unknown): readonly unknown[] {
  return isMembers(matcher) && Array.isArray(matcher.hooks) ? matcher.hooks : [];
}

function matchersOf(text: string, event: string): readonly unknown[] | undefined {
  const { hooks } = settingsOf(text);
  if (hooks === undefined || !Object.hasOwn(hooks, event)) return undefined;
  const matchers = hooks[event];
  if (!Array.isArray(matchers)) throw new UnusableSettings(`hooks.${event} is no list`);
  return matchers;
}

function settingsOf(text: string): { readonly hooks?: Readonly<Record<string, unknown>> } {
  const errors: jsonc.ParseError[] = [];
  const value: unknown = jsonc.parse(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || !isMembers(value)) throw new UnusableSettings("they are no JSON object");
  if (value.hooks === undefined) return {};
  if (!isMembers(value.hooks)) throw new UnusableSettings("hooks is no object");
  return { hooks: value.hooks };
}

function edit(text: string, path: (string | number)[], value: unknown, isArrayInsertion = false): string {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const formattingOptions = {
    insertSpaces: !indent.includes("\t"),
    tabSize: indent.includes("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  return jsonc.applyEdits(text, jsonc.modify(text, path, value, { formattingOptions, isArrayInsertion }));
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
