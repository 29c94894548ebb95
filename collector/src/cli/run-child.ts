import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { basename } from "node:path";
import {
  type Child,
  createLifecycle,
  type JsonlDestination,
  type Lifecycle,
  type SdkDiagnosticCode,
} from "@agent-lifecycle/sdk";
import { passOutputOn } from "./output.ts";

export interface RunChildOptions {
  readonly program: string;
  readonly programArguments: readonly string[];
  readonly source: string;
  readonly endpoint?: string;
  readonly childId?: string;
  readonly parent?: string;
  readonly root?: string;
  readonly name?: string;
  readonly ingestToken?: string;
  /** A path, `stdout` or `stderr`. */
  readonly fallbackJsonl?: string;
  /** Arguments often hold secrets that look like anything: they are reported only if asked for. */
  readonly recordArguments?: boolean;
}

/** Objections of the SDK that the person who runs a command can do something about. */
const TOLD: ReadonlySet<SdkDiagnosticCode> = new Set([
  "invalid_configuration",
  "invalid_argument",
  "export_failed",
  "events_rejected",
  "jsonl_write_failed",
]);
/** A process that has lived this long and said nothing counts as running. */
const ALIVE_AFTER_MS = 1_000;
/** How long the end may be held up to deliver it. */
const DELIVERY_TIMEOUT_MS = 2_000;
/** Output may still be in the pipes when the process is gone; a grandchild may hold them open for ever. */
const OUTPUT_TIMEOUT_MS = 1_000;

const FORWARDED_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const EXIT_CODE_NOT_FOUND = 127;
const EXIT_CODE_NOT_EXECUTABLE = 126;
const EXIT_CODE_SIGNAL_BASE = 128;

interface Ending {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Runs a program and reports only what a parent process can observe: spawned → starting; first output, or alive for a
 * second → running; exit code 0 → completed; another code → failed; ended by a signal that we passed on → cancelled; by
 * another signal → failed. Standard input and output pass through untouched.
 * @returns the exit code for our own process: the child's, or 128 + the signal's number.
 */
export async function runChild(options: RunChildOptions): Promise<number> {
  const lifecycle = createLifecycle({
    source: options.source,
    ...(options.endpoint === undefined ? undefined : { endpoint: options.endpoint }),
    ...(options.ingestToken === undefined
      ? undefined
      : { headers: { authorization: `Bearer ${options.ingestToken}` } }),
    ...(options.fallbackJsonl === undefined ? undefined : { jsonl: jsonlDestination(options.fallbackJsonl) }),
    onDiagnostic: ({ code, message }) => {
      if (TOLD.has(code)) process.stderr.write(`agent-lifecycle run: ${message}\n`);
    },
  });
  const child = lifecycle.child({
    ...(options.childId === undefined ? undefined : { childId: options.childId }),
    ...(options.parent === undefined
      ? undefined
      : { parent: { childId: options.parent, rootChildId: options.root ?? options.parent } }),
    capabilities: { terminalCause: "known" },
    details: {
      name: options.name ?? basename(options.program),
      command: (options.recordArguments === true
        ? [options.program, ...options.programArguments]
        : [options.program]
      ).join(" "),
    },
  });
  const spawned = spawn(options.program, options.programArguments, {
    // A terminal is handed over as it is. Elsewhere the bytes pass through us, so that the first output is seen.
    stdio: ["inherit", process.stdout.isTTY ? "inherit" : "pipe", process.stderr.isTTY ? "inherit" : "pipe"],
  });
  const passedOn = passSignalsOn(spawned);
  const exitCode = await observe(spawned, child, passedOn.signals);
  passedOn.stop();
  await lifecycle.shutdown({ timeoutMs: DELIVERY_TIMEOUT_MS });
  tellWhatWasNotDelivered(lifecycle);
  return exitCode;
}

function jsonlDestination(text: string): JsonlDestination {
  return text === "stdout" || text === "stderr" ? text : { path: text };
}

async function observe(spawned: ChildProcess, child: Child, passedOn: ReadonlySet<NodeJS.Signals>): Promise<number> {
  try {
    await once(spawned, "spawn");
  } catch (error) {
    child.failed("spawn_failed", { error: error instanceof Error ? error.message : String(error) });
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    process.stderr.write(`agent-lifecycle run: ${error instanceof Error ? error.message : String(error)}\n`);
    return isMissing ? EXIT_CODE_NOT_FOUND : EXIT_CODE_NOT_EXECUTABLE;
  }
  child.starting({ pid: spawned.pid });
  // A signal that may not be passed on, as to a command that runs as somebody else.
  spawned.on("error", (error) => process.stderr.write(`agent-lifecycle run: ${error.message}\n`));
  const ended = once(spawned, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const closed = once(spawned, "close");
  const stopWatching = reportRunning(spawned, child);
  passOutputOn(spawned.stdout, process.stdout);
  passOutputOn(spawned.stderr, process.stderr);
  const [exitCode, signal] = await ended;
  await Promise.race([closed, timePassed(OUTPUT_TIMEOUT_MS)]);
  stopWatching();
  return reportEnd(child, { exitCode, signal }, passedOn);
}

function reportRunning(spawned: ChildProcess, child: Child): () => void {
  const running = (): void => {
    clearTimeout(timer);
    if (child.state === "starting") child.running();
  };
  const timer = setTimeout(running, ALIVE_AFTER_MS);
  spawned.stdout?.once("data", running);
  spawned.stderr?.once("data", running);
  return () => clearTimeout(timer);
}

function reportEnd(child: Child, { exitCode, signal }: Ending, passedOn: ReadonlySet<NodeJS.Signals>): number {
  if (exitCode === 0) {
    // Completed follows running only; a process that ended well has run, whether or not it was seen to.
    if (child.state === "starting") child.running({ inferred: true });
    child.completed({ exitCode });
    return exitCode;
  }
  const details = signal === null ? { exitCode: exitCode ?? 1 } : { signal };
  if (passedOn.size > 0) child.cancelled({ cause: "signal", ...details });
  else child.failed(signal === null ? "exit_code" : "signal", details);
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

function tellWhatWasNotDelivered(lifecycle: Lifecycle): void {
  const dropped = Object.values(lifecycle.counters().dropped).reduce((sum, count) => sum + count, 0);
  if (dropped > 0) process.stderr.write(`agent-lifecycle run: ${dropped} events could not be delivered\n`);
}
