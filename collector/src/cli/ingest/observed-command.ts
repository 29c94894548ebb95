import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { PassThrough } from "node:stream";
import type { StreamEnd } from "@agent-lifecycle/sdk/adapters";

export interface ObservedCommand {
  /** What it writes; it is passed on to our own standard output too, if that is free. */
  readonly stdout: NodeJS.ReadableStream;
  readonly ended: Promise<{ readonly end: Omit<StreamEnd, "observedAtMs">; readonly ownExitCode: number }>;
}

const FORWARDED_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const EXIT_CODE_NOT_FOUND = 127;
const EXIT_CODE_SIGNAL_BASE = 128;

/** Runs the command that writes the stream: its exit code is what a pipe cannot carry. */
export function startObserved(program: string, programArguments: readonly string[], passOn: boolean): ObservedCommand {
  const command = spawn(program, programArguments, { stdio: ["inherit", "pipe", "inherit"] });
  const stdout = new PassThrough();
  command.stdout.on("data", (bytes: Buffer) => {
    if (passOn) process.stdout.write(bytes);
  });
  command.stdout.pipe(stdout);
  let requested = false;
  const forward = (signal: NodeJS.Signals): void => {
    requested = true;
    if (signal !== "SIGINT" || !process.stdin.isTTY) command.kill(signal);
  };
  for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
  const closed = once(command, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const ended = closed
    .then(([exitCode, signal]) =>
      signal === null
        ? { end: { exitCode: exitCode ?? 1, requested }, ownExitCode: exitCode ?? 1 }
        : { end: { signal, requested }, ownExitCode: EXIT_CODE_SIGNAL_BASE + constants.signals[signal] },
    )
    .catch((error: unknown) => {
      stdout.end();
      process.stderr.write(`agent-lifecycle ingest: ${error instanceof Error ? error.message : String(error)}\n`);
      return { end: { exitCode: EXIT_CODE_NOT_FOUND }, ownExitCode: EXIT_CODE_NOT_FOUND };
    })
    .finally(() => {
      for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
    });
  return { stdout, ended };
}
