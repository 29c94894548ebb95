import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Names one process among all that ever ran on a machine: a PID comes back after a while, the pair of PID and start
 * time does not. A member that the system does not tell is absent, and then proves nothing.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** When the process started, in the system's own unit; only ever compared for equality. */
  readonly startTime?: string;
  /** Names one run of the machine. */
  readonly bootId?: string;
  /** The PID namespace that `pid` belongs to: another container counts its processes by itself. */
  readonly pidNamespace?: string;
  /** A digest of the host's name, eight hexadecimal digits. */
  readonly host: string;
}

/** What can be said of the process that an identity names. */
export type Liveness = "alive" | "dead" | "unknown";

let own: ProcessIdentity | undefined;

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  // A worker thread shares the PID and the start time; a child process reads its own.
  if (own?.pid === process.pid) return own;
  const startTime = startTimeOf(process.pid);
  const bootId = readText("/proc/sys/kernel/random/boot_id")?.trim().slice(0, 8);
  const pidNamespace = /\[(\d+)\]/.exec(readLink("/proc/self/ns/pid") ?? "")?.[1];
  own = {
    pid: process.pid,
    host: createHash("sha256").update(hostname()).digest("hex").slice(0, 8),
    ...(startTime === undefined ? undefined : { startTime }),
    ...(bootId === undefined ? undefined : { bootId }),
    ...(pidNamespace === undefined ? undefined : { pidNamespace }),
  };
  return own;
}

/**
 * Whether the process still runs. `dead` only where it is demonstrated: the machine was started anew, no process has
 * the PID, or the one that has it started at another time. A process of another host or PID namespace is `unknown`.
 */
export function livenessOf(other: ProcessIdentity, self: ProcessIdentity = ownIdentity()): Liveness {
  if (other.host !== self.host) return "unknown";
  if (differs(other.bootId, self.bootId)) return "dead";
  if (differs(other.pidNamespace, self.pidNamespace)) return "unknown";
  if (!pidExists(other.pid)) return "dead";
  return differs(other.startTime, startTimeOf(other.pid)) ? "dead" : "alive";
}

/** Whether a process has this PID now, whoever it is. */
export function pidExists(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists and belongs to somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** When the process with this PID started, or `undefined` where the system does not tell. */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform === "win32") return undefined;
  if (process.platform === "linux") {
    const status = readText(`/proc/${pid}/stat`);
    // The program's name stands in brackets and may hold anything; the start time is the twentieth field after it.
    return status
      ?.slice(status.lastIndexOf(")") + 2)
      .split(" ")[19]
      ?.trim();
  }
  const { stdout } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", timeout: 2_000 });
  const digits = stdout?.replace(/[^A-Za-z0-9]/g, "");
  return digits === undefined || digits === "" ? undefined : digits;
}

/** Both are known, and they are not the same. */
function differs(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
