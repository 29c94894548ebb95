/** Payloads of hooks as Claude Code documents them; only what differs from call to call is given. */
export function hook(name: string, members: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    session_id: "root",
    transcript_path: "/home/user/.claude/projects/p/root.jsonl",
    cwd: "/home/user/p",
    hook_event_name: name,
    ...members,
  };
}

export function toolHook(
  name: "PreToolUse" | "PostToolUse" | "PostToolUseFailure",
  tool: string,
  id: string,
  members: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return hook(name, { tool_name: tool, tool_use_id: id, tool_input: { prompt: "do not keep this" }, ...members });
}
