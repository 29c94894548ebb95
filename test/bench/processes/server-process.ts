import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { confined } from "./core-pinning.ts";

export interface ServerCommand {
  /** Program and arguments. */
  readonly argv: readonly string[];
  /** The one processor it may use. Default: all. */
  readonly core?: number | undefined;
  /** Where it says that it is ready. Default: standard output. */
  readonly readyOn?: "stdout" | "stderr";
  /** What a line there says about where it listens, once it is ready. Default: it is the first line, in JSON. */
  readonly addressesIn?: (line: string) => Addresses | undefined;
}

export type Addresses = Readonly<Record<string, unknown>>;

/** A server under load, in a process of its own, and what it costs. */
export class ServerProcess {
  readonly #child: ChildProcess;
  /** What it printed when it was ready. */
  readonly addresses: Addresses;
  /** From the start of the process to its ready line. Milliseconds. */
  readonly readyAfterMs: number;

  private constructor(child: ChildProcess, addresses: Addresses, readyAfterMs: number) {
    this.#child = child;
    this.addresses = addresses;
    this.readyAfterMs = readyAfterMs;
  }

  /** Starts a Node.js program that prints one line of JSON when it is ready. @throws Error when it ends before that. */
  static startNode(argv: readonly string[], core?: number): Promise<ServerProcess> {
    return ServerProcess.start({ argv: [process.execPath, ...argv], core });
  }

  /** @throws Error when the program ends before it is ready. */
  static async start(server: ServerCommand): Promise<ServerProcess> {
    const { argv, core, readyOn = "stdout", addressesIn = (line) => JSON.parse(line) as Addresses } = server;
    const startedAt = performance.now();
    const [command = "", ...rest] = confined(argv, core);
    const child = spawn(command, rest, { stdio: ["ignore", "pipe", "pipe"] });
    // However this process ends, no server outlives it.
    const killWithUs = (): void => void child.kill("SIGKILL");
    process.once("exit", killWithUs);
    child.once("exit", () => process.off("exit", killWithUs));
    let complaints = "";
    let isReady = false;
    const addresses = await new Promise<Addresses>((resolve, reject) => {
      linesOf(child.stdout, child.stderr, (line, stream) => {
        complaints = `${complaints}${line}\n`.slice(-2_000);
        if (stream !== readyOn || isReady) return;
        const found = addressesIn(line);
        if (found === undefined) return;
        isReady = true;
        resolve(found);
      });
      child.once("error", reject);
      child.once("close", (code) => {
        reject(new Error(`the server ended with exit code ${code} before it was ready: ${complaints}`));
      });
    });
    return new ServerProcess(child, addresses, performance.now() - startedAt);
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
  residentMib(): Promise<number | undefined> {
    return this.#statusMib("VmRSS");
  }

  /** The most resident memory it has had; `undefined` where the system does not tell. MiB. */
  peakResidentMib(): Promise<number | undefined> {
    return this.#statusMib("VmHWM");
  }

  /** Ends the process and waits for its end: `SIGTERM` asks, `SIGKILL` does not. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }

  async #statusMib(name: string): Promise<number | undefined> {
    const status = await this.#procFile("status");
    const kib = status?.match(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m"))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
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

function linesOf(stdout: Readable, stderr: Readable, hear: (line: string, stream: "stdout" | "stderr") => void): void {
  createInterface(stdout).on("line", (line) => hear(line, "stdout"));
  createInterface(stderr).on("line", (line) => hear(line, "stderr"));
}
