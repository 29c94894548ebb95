import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** One processor for the server under test, another for those who load it. */
export interface Cores {
  readonly server: number;
  readonly load: number;
}

/** Two processors to confine processes to; `undefined` where the system cannot do that, or has only one. */
export function coresToPin(): Cores | undefined {
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
    const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    const [server, load] = coresOf(allowed);
    return server === undefined || load === undefined ? undefined : { server, load };
  } catch {
    return undefined;
  }
}

/** The processors of a list such as `0-2,5`. */
export function coresOf(list: string): readonly number[] {
  return list
    .split(",")
    .filter((range) => range !== "")
    .flatMap((range) => {
      const [first, last = first] = range.split("-").map(Number);
      if (first === undefined || last === undefined) return [];
      return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
    });
}

/** Confines this process, with all its threads and whatever it starts from now on. */
export function confineThisProcess(core: number): void {
  const argv = ["--all-tasks", "--cpu-list", "--pid", String(core), String(process.pid)];
  execFileSync("taskset", argv, { stdio: "ignore" });
}

/** The command that starts another one confined to a processor; it keeps its process id. */
export function confined(argv: readonly string[], core: number | undefined): readonly string[] {
  return core === undefined ? argv : ["taskset", "--cpu-list", String(core), ...argv];
}
