import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { describeCommand, ObservedProcess } from "@agent-lifecycle/sdk/instrumentation";
import { createReporter, type ReporterOptions, tellWhatWasNotDelivered } from "./child-reporter.ts";
import { passOutputOn } from "./output.ts";

export interface RunChildOptions extends ReporterOptions {
  readonly program: string;
  readonly programArguments: readonly string[];
  readonly childId?: string;
  readonly parent?: string;
  readonly root?: string;
  readonly name?: string;
  /** Arguments often hold secrets that look like anything: they are reported only if asked for. */
  readonly recordArguments?: boolean;
}

/** How long the end may be held up to deliver it. */
const DELIVERY_TIMEOUT_MS = 2_000;
/** Output may still be in the pipes when the process is gone; a grandchild may hold them open for ever. */
const OUTPUT_TIMEOUT_MS = 1_000;

const FORWARDED_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const EXIT_CODE_NOT_FOUND = 127;
const EXIT_CODE_NOT_EXECUTABLE = 126;
const EXIT_CODE_SIGNAL_BASE = 128;

/**
 * Runs a program and reports only what a parent process can observe: spawned → starting; first output, or alive for a
 * second → running; exit code 0 → completed; another code → failed; ended by a signal that we passed on → cancelled; by
 * another signal → failed. Standard input and output pass through untouched.
 * @returns the exit code for our own process: the child's, or 128 + the signal's number.
 */
export async function runChild(options: RunChildOptions): Promise<number> {
  const lifecycle = createReporter("run", options);
  const child = lifecycle.child({
    ...(options.childId === undefined ? undefined : { childId: options.childId }),
    ...(options.parent === undefined
      ? undefined
      : { parent: { childId: options.parent, rootChildId: options.root ?? options.parent } }),
    capabilities: { terminalCause: "known" },
    details: {
      ...describeCommand(options.program, options.programArguments, options.recordArguments === true),
      ...(options.name === undefined ? undefined : { name: options.name }),
    },
  });
  const observed = new ObservedProcess(child);
  const spawned = spawn(options.program, options.programArguments, {
    // A terminal is handed over as it is. Elsewhere the bytes pass through us, so that the first output is seen.
    env: child.environment(),
    stdio: ["inherit", process.stdout.isTTY ? "inherit" : "pipe", process.stderr.isTTY ? "inherit" : "pipe"],
  });
  const passedOn = passSignalsOn(spawned);
  const exitCode = await observe(spawned, observed, passedOn.signals);
  passedOn.stop();
  await lifecycle.shutdown({ timeoutMs: DELIVERY_TIMEOUT_MS });
  tellWhatWasNotDelivered("run", lifecycle);
  return exitCode;
}

async function observe(
  spawned: ChildProcess,
  observed: ObservedProcess,
  passedOn: ReadonlySet<NodeJS.Signals>,
): Promise<number> {
  try {
    await once(spawned, "spawn");
  } catch (error) {
    observed.failedToSpawn(error);
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    process.stderr.write(`agent-lifecycle run: ${error instanceof Error ? error.message : String(error)}\n`);
    return isMissing ? EXIT_CODE_NOT_FOUND : EXIT_CODE_NOT_EXECUTABLE;
  }
  observed.spawned(spawned.pid);
  // A signal that may not be passed on, as to a command that runs as somebody else.
  spawned.on("error", (error) => process.stderr.write(`agent-lifecycle run: ${error.message}\n`));
  const ended = once(spawned, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const closed = once(spawned, "close");
  spawned.stdout?.once("data", () => observed.active());
  spawned.stderr?.once("data", () => observed.active());
  passOutputOn(spawned.stdout, process.stdout);
  passOutputOn(spawned.stderr, process.stderr);
  const [exitCode, signal] = await ended;
  await Promise.race([closed, timePassed(OUTPUT_TIMEOUT_MS)]);
  observed.ended({ exitCode, signal, wasCancelled: passedOn.size > 0 });
  return signal === null ? (exitCode ?? 1) : EXIT_CODE_SIGNAL_BASE + constants.signals[signal];
}

/** Signals meant for the command reach it; that we passed one on is what makes its end a cancellation. */
function passSignalsOn(spawned: ChildProcess): { readonly signals: ReadonlySet<NodeJS.Signals>; stop(): void } {
  const signals = new Set<NodeJS.Signals>();
  const passOn = (signal: NodeJS.Signals): void => {
    signals.add(signal);
    // From a terminal, an interrupt has already gone to the whole foreground group.
    if (signal !== "SIGINT" || !process.stdin.isTTY) spawned.kill(signal);
  };
  for (const signal of FORWARDED_SIGNALS) process.on(signal, passOn);
  return {
    signals,
    stop: () => {
      for (const signal of FORWARDED_SIGNALS) process.off(signal, passOn);
    },
  };
}

function timePassed(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs).unref());
}
