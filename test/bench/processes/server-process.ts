import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

/** A server under load, in a process of its own, and what it costs. */
export class ServerProcess {
  readonly #child: ChildProcess;
  /** What it printed when it was ready. */
  readonly addresses: Readonly<Record<string, unknown>>;
  /** From the start of the process to its ready line. Milliseconds. */
  readonly readyAfterMs: number;

  private constructor(child: ChildProcess, addresses: Readonly<Record<string, unknown>>, readyAfterMs: number) {
    this.#child = child;
    this.addresses = addresses;
    this.readyAfterMs = readyAfterMs;
  }

  /** Starts a Node.js program that prints one line of JSON when it is ready. @throws Error when it ends before that. */
  static async start(argv: readonly string[]): Promise<ServerProcess> {
    const startedAt = performance.now();
    const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });
    // However this process ends, no server outlives it.
    const killWithUs = (): void => void child.kill("SIGKILL");
    process.once("exit", killWithUs);
    child.once("exit", () => process.off("exit", killWithUs));
    let complaints = "";
    child.stderr.on("data", (chunk: Buffer) => {
      complaints = (complaints + chunk.toString()).slice(-2_000);
    });
    const line = once(createInterface(child.stdout), "line") as Promise<[string]>;
    const end = once(child, "exit").then(([code]) => {
      throw new Error(`the server ended with exit code ${code} before it was ready: ${complaints}`);
    });
    const [text] = await Promise.race([line, end]);
    end.catch(() => {});
    return new ServerProcess(child, JSON.parse(text) as Record<string, unknown>, performance.now() - startedAt);
  }

  /** Processor time so far, user and system, all threads; `undefined` where the system does not tell. Seconds. */
  async cpuSeconds(): Promise<number | undefined> {
    const stat = await this.#procFile("stat");
    if (stat === undefined) return undefined;
    // The name of the program comes first, in brackets, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /** Resident memory; `undefined` where the system does not tell. MiB. */
  async residentMib(): Promise<number | undefined> {
    const status = await this.#procFile("status");
    const match = status?.match(/^VmRSS:\s+(\d+) kB$/m);
    return match?.[1] === undefined ? undefined : Number(match[1]) / 1024;
  }

  /** Ends the process and waits for its end: `SIGTERM` asks, `SIGKILL` does not. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }

  async #procFile(name: string): Promise<string | undefined> {
    try {
      return await readFile(`/proc/${this.#child.pid}/${name}`, "utf8");
    } catch {
      return undefined;
    }
  }
}

/** What Linux counts processor time in, whatever its kernel ticks at. */
const TICKS_PER_SECOND = 100;
