import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Figure } from "../measure/figure.ts";
import type { ScenarioContext } from "../scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../../../collector/bin/agent-lifecycle.js", import.meta.url));
const PAYLOAD = JSON.stringify({
  session_id: "session",
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_use_id: "call",
  tool_input: { command: "x".repeat(2_000) },
});

/** How long an agent is held up by a hook, from its start to its exit, beside a Node.js that does nothing. */
export async function measureHook({ quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  const samples: number[] = [];
  const idle: number[] = [];
  const environment = { PATH: process.env["PATH"], AGENT_LIFECYCLE_HOOKS: join(folder, "hooks") };
  for (let round = 0; round < (quick ? 11 : 41); round += 1) {
    idle.push(timed(["--input-type=module", "--eval", "0"], environment));
    samples.push(timed([PROGRAM, "hook", "claude-code"], environment));
  }
  return [
    {
      what: "a hook, from start to exit",
      unit: "ms",
      samples,
      baseline: { name: "Node.js with an empty module", samples: idle },
      budget: "50 ms more",
    },
  ];
}

function timed(argv: readonly string[], env: NodeJS.ProcessEnv): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, argv, { input: PAYLOAD, env });
  if (status !== 0 || stderr.length > 0) throw new Error(`a hook ended with ${status}: ${stderr.toString()}`);
  return performance.now() - startedAt;
}
