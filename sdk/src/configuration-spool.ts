import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { resolveNumber } from "./configuration-number.ts";
import type { Environment } from "./configuration-otlp.ts";
import type { ProblemList } from "./configuration-problem.ts";
import type { LifecycleOptions } from "./options.ts";

export interface SpoolConfiguration {
  readonly directory: string;
  readonly maxBytes: number;
  readonly fsync: boolean;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const MAX_BYTES = { least: 65_536, most: 2 ** 40 };

/** The spool, or `undefined` when none is asked for: nothing is ever written where nobody said so. */
export function resolveSpool(
  options: LifecycleOptions,
  environment: Environment,
  problems: ProblemList,
): SpoolConfiguration | undefined {
  const stated: unknown = options.spool;
  if (stated === false) return undefined;
  if (stated === undefined) {
    const variable = environment.AGENT_LIFECYCLE_SPOOL?.trim() ?? "";
    if (variable === "" || variable.toLowerCase() === "false") return undefined;
    const directory = variable.toLowerCase() === "true" ? defaultDirectory(environment) : variable;
    return { directory: resolve(directory), maxBytes: DEFAULT_MAX_BYTES, fsync: false };
  }
  if (stated === true) return { directory: defaultDirectory(environment), maxBytes: DEFAULT_MAX_BYTES, fsync: false };
  if (typeof stated !== "object" || stated === null) {
    problems.add("spool", "must be true, false or { directory, maxBytes, fsync }");
    return undefined;
  }
  const { directory, maxBytes, fsync } = stated as Readonly<Record<string, unknown>>;
  if (directory !== undefined && (typeof directory !== "string" || directory === "" || directory.includes("\0"))) {
    problems.add("spool.directory", "must be a path");
    return undefined;
  }
  if (fsync !== undefined && typeof fsync !== "boolean") problems.add("spool.fsync", "must be true or false");
  return {
    directory: directory === undefined ? defaultDirectory(environment) : resolve(directory),
    maxBytes: resolveNumber([{ path: "spool.maxBytes", value: maxBytes }], MAX_BYTES, DEFAULT_MAX_BYTES, problems),
    fsync: fsync === true,
  };
}

/** Where the platform keeps what a program must not lose and a person need not see. */
function defaultDirectory(environment: Environment): string {
  const stated = process.platform === "win32" ? environment.LOCALAPPDATA : environment.XDG_STATE_HOME;
  const fallback = process.platform === "win32" ? ["AppData", "Local"] : [".local", "state"];
  const base = stated !== undefined && isAbsolute(stated) ? stated : join(homedir(), ...fallback);
  return join(base, "agent-lifecycle", "spool");
}
