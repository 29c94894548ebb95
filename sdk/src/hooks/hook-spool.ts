import { homedir } from "node:os";
import { join } from "node:path";

/** Records of one segment, bytes; what comes beyond is dropped: a spool that nobody reads must not fill a disk. */
export const MAX_SEGMENT_BYTES = 67_108_864;
const HOUR = "2026-12-01T06".length;

/**
 * Where the hooks of an agent are spooled: `AGENT_LIFECYCLE_HOOKS`, else `agent-lifecycle/hooks` below `XDG_STATE_HOME`
 * (`~/.local/state`; on Windows `LOCALAPPDATA`), with a folder for each agent.
 */
export function hookSpoolDirectory(agent: string, environment: Readonly<Record<string, string | undefined>>): string {
  const stated = environment.AGENT_LIFECYCLE_HOOKS;
  if (stated !== undefined && stated !== "") return join(stated, agent);
  const base =
    process.platform === "win32"
      ? (environment.LOCALAPPDATA ?? join(homedir(), "AppData", "Local"))
      : environment.XDG_STATE_HOME || join(homedir(), ".local", "state");
  return join(base, "agent-lifecycle", "hooks", agent);
}

/** The segment that a record of this time belongs to: one for each hour, so that old ones are complete. */
export function segmentName(receivedAt: string): string {
  return `${receivedAt.slice(0, HOUR)}.jsonl`;
}
