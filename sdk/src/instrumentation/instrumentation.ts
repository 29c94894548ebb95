import type { ChildOptions } from "../child-options.ts";
import type { Lifecycle } from "../lifecycle.ts";

export interface InstrumentationOptions {
  /** Reports what is observed. */
  readonly lifecycle: Lifecycle;
  /** Whether to report arguments too, redacted as far as a secret looks like one. Default false: the program alone. */
  readonly recordArguments?: boolean;
  /**
   * Called for each process or thread before it begins, in the host's call: `false` leaves it alone, an object adds to
   * what is said of its child. What it throws leaves it alone too. Default: all are observed.
   */
  readonly describe?: (target: InstrumentationTarget) => boolean | ChildOptions;
}

/** What is about to begin. */
export interface InstrumentationTarget {
  readonly kind: "process" | "thread";
  /** The program, or the thread's file. */
  readonly file: string;
  readonly arguments: readonly string[];
}

/** An instrumentation in force. */
export interface Instrumentation {
  /** Ends it: what begins from now on is left alone, what is observed already is observed to its end. */
  disable(): void;
}

/** What the host adds, or `undefined` when the target is to be left alone. Never throws. */
export function additionsFor(options: InstrumentationOptions, target: InstrumentationTarget): ChildOptions | undefined {
  try {
    const answer = options.describe?.(target) ?? true;
    if (answer === true) return {};
    return answer === false ? undefined : answer;
  } catch {
    return undefined;
  }
}

/** Runs what is ours beside the host's work: nothing of it reaches the host. */
export function guarded<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
