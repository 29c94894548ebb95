import { basename } from "node:path";
import { redactText } from "@agent-lifecycle/proto";
import type { Child } from "../child.ts";
import { type CancelTimer, type Clock, systemClock } from "../clock.ts";

/** A process that has lived this long and said nothing counts as running. Milliseconds. */
const ALIVE_AFTER_MS = 1_000;

export interface ProcessEnding {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether it was asked to end by whoever started it. */
  readonly wasCancelled: boolean;
}

/**
 * Reports of a child exactly what the process that started it can observe: spawned → starting; first output, or alive
 * for a second → running; exit code 0 → completed; asked to end, and another code or a signal → cancelled; else → failed.
 * Nothing of it changes the process.
 */
export class ObservedProcess {
  readonly child: Child;
  readonly #clock: Clock;
  #cancelTimer: CancelTimer | undefined;

  constructor(child: Child, clock: Clock = systemClock) {
    this.child = child;
    this.#clock = clock;
  }

  spawned(pid: number | undefined): void {
    if (this.child.state !== "created") return;
    this.child.starting(pid === undefined ? undefined : { pid });
    this.#cancelTimer = this.#clock.after(ALIVE_AFTER_MS, () => this.active());
  }

  /** It has been seen to do something. */
  active(): void {
    this.#cancelTimer?.();
    if (this.child.state === "starting") this.child.running();
  }

  /** It never was a process. */
  failedToSpawn(error: unknown): void {
    if (this.child.state !== "created") return;
    this.child.failed("spawn_failed", { error: error instanceof Error ? error.message : String(error) });
  }

  ended({ exitCode, signal, wasCancelled }: ProcessEnding): void {
    this.#cancelTimer?.();
    if (exitCode === 0) {
      // Completed follows running only; a process that ended well has run, whether or not it was seen to.
      if (this.child.state === "starting") this.child.running({ inferred: true });
      this.child.completed({ exitCode });
      return;
    }
    const details = signal === null ? { exitCode: exitCode ?? 1 } : { signal };
    if (wasCancelled) this.child.cancelled({ cause: "signal", ...details });
    else this.child.failed(signal === null ? "exit_code" : "signal", details);
  }
}

/**
 * What is said of a command: the program's name, and the rest of the line only if it is asked for, for arguments often
 * hold secrets that look like anything. What looks like one is redacted in any case.
 */
export function describeCommand(
  program: string,
  programArguments: readonly string[],
  recordArguments: boolean,
): { readonly name: string; readonly command: string } {
  const command = (recordArguments ? [program, ...programArguments] : [program]).join(" ");
  return { name: basename(program), command: redactText(command) };
}
