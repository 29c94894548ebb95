import { readdir, readFile, readlink } from "node:fs/promises";

export interface PortHolder {
  readonly pid: number;
  /** Name of the program, at most 15 characters, as the system keeps it. */
  readonly program: string;
}

/** State `LISTEN` of the kernel's socket table. */
const LISTEN = "0A";

/**
 * Who listens on a TCP port of this machine. `undefined` where the system does not tell: other systems than Linux, and
 * processes of other users.
 */
export async function holderOfPort(port: number): Promise<PortHolder | undefined> {
  const sockets = await listeningSockets(port);
  if (sockets.size === 0) return undefined;
  for (const pid of await processIds()) {
    if (await holdsOne(pid, sockets)) {
      const program = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "unknown");
      return { pid, program: program.trim() };
    }
  }
  return undefined;
}

/** As they are named among a process's open files: `socket:[4711]`. */
async function listeningSockets(port: number): Promise<ReadonlySet<string>> {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((path) => readFile(path, "utf8").catch(() => "")),
  );
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const sockets = new Set<string>();
  for (const line of tables.join("\n").split("\n")) {
    const [, localAddress, , state, , , , , , inode] = line.trim().split(/\s+/);
    if (localAddress?.endsWith(suffix) === true && state === LISTEN) sockets.add(`socket:[${inode}]`);
  }
  return sockets;
}

async function processIds(): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

async function holdsOne(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  // Processes of others cannot be looked into, and processes come and go.
  const descriptors = await readdir(folder).catch(() => []);
  for (const descriptor of descriptors) {
    const target = await readlink(`${folder}/${descriptor}`).catch(() => "");
    if (sockets.has(target)) return true;
  }
  return false;
}
