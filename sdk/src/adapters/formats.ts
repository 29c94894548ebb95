import { a2aTasks } from "./a2a-tasks.ts";
import type { Adapter } from "./adapter.ts";
import { claudeCodeHooks, codexHooks } from "./agent-hooks.ts";
import { claudeStreamJson } from "./claude-stream.ts";
import { codexExec } from "./codex-exec.ts";
import { mcpTasks } from "./mcp-tasks.ts";
import { openAiAgents } from "./openai-agents.ts";
import { openCode } from "./opencode.ts";
import { plainProcess } from "./plain-process.ts";

/** Every adapter there is, in the order that lists show them. */
export const ADAPTERS: readonly Adapter[] = [
  claudeCodeHooks,
  claudeStreamJson,
  codexHooks,
  codexExec,
  openCode,
  a2aTasks,
  mcpTasks,
  openAiAgents,
  plainProcess,
];

export function adapterFor(format: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.format === format);
}
