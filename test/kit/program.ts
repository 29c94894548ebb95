import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export interface ProgramOptions {
  /** Environment variables beside PATH; nothing else of our own environment is passed on. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** Written to standard input, which then ends. Without it, standard input is empty. */
  readonly input?: string | Uint8Array;
}

export interface ProgramEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** A running program. It is killed when the test ends before it. */
export interface Program {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly pid: number;
  /** Resolves when the program has ended and everything it wrote has been read. */
  readonly end: Promise<ProgramEnd>;
  /** Everything written so far. */
  output(): { readonly stdout: string; readonly stderr: string };
  /** Resolves with the first line of standard output that fulfils the predicate; rejects when the program ends before. */
  line(predicate: (line: string) => boolean): Promise<string>;
}

/** A script of `test/fixtures/programs`. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/programs/${name}`, import.meta.url));
}

/** Halves the start of a program. Node.js looks at the content of every file: what changed is never taken from it. */
const COMPILE_CACHE = fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url));

/** Runs a script with this Node.js, on the sources of our packages. */
export function startNode(script: string, argv: readonly string[] = [], options: ProgramOptions = {}): Program {
  return startProgram(process.execPath, ["--conditions=@agent-lifecycle/source", script, ...argv], {
    ...options,
    environment: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...options.environment },
  });
}

/** The `agent-lifecycle` program. */
export function startCommand(argv: readonly string[], options: ProgramOptions = {}): Program {
  return startNode(fixture("agent-lifecycle.mjs"), argv, options);
}

/** The `agent-lifecycle` program to its end. */
export function runCommand(argv: readonly string[], options: ProgramOptions = {}): Promise<ProgramEnd> {
  return startCommand(argv, options).end;
}

export function startProgram(path: string, argv: readonly string[], options: ProgramOptions = {}): Program {
  const { environment, workingDirectory, input } = options;
  const child = spawn(path, argv, {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["pipe", "pipe", "pipe"],
    ...(workingDirectory === undefined ? undefined : { cwd: workingDirectory }),
  });
  // A program may end without having read what it was given.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const watchers = new Set<() => void>();
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.stdout.push(chunk);
    for (const watcher of watchers) watcher();
  });
  child.stderr.on("data", (chunk: Buffer) => chunks.stderr.push(chunk));
  const output = (): { readonly stdout: string; readonly stderr: string } => ({
    stdout: Buffer.concat(chunks.stdout).toString(),
    stderr: Buffer.concat(chunks.stderr).toString(),
  });
  const end = new Promise<ProgramEnd>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode, signal) =>
      resolve({ exitCode, signal, stdout: Buffer.concat(chunks.stdout), stderr: Buffer.concat(chunks.stderr) }),
    );
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await end.catch(() => {});
  });
  return {
    process: child,
    get pid() {
      if (child.pid === undefined) throw new Error(`${path} could not be started`);
      return child.pid;
    },
    end,
    output,
    line: (predicate) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = output().stdout.split("\n").slice(0, -1).find(predicate);
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
        end.then(({ exitCode, signal }) => {
          const { stderr } = output();
          reject(new Error(`${path} ended (${signal ?? exitCode}) without saying what was awaited: ${stderr}`));
        }, reject);
      }),
  };
}
