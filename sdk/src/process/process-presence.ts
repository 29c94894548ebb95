import type { Child } from "../child.ts";
import { type Clock, systemClock } from "../clock.ts";
import type { Lifecycle } from "../lifecycle.ts";
import { pidExists, startTimeOf } from "./process-identity.ts";

export interface AdoptProcessOptions {
  readonly pid: number;
  /** For people. Default: none is claimed. */
  readonly name?: string;
  /** Default: a fresh UUID. */
  readonly childId?: string;
  readonly parent?: { readonly childId: string; readonly rootChildId?: string };
  /** Time between two looks, milliseconds. Default 10,000. */
  readonly intervalMs?: number;
  readonly clock?: Clock;
}

/** A process that is looked at from outside. */
export interface AdoptedProcess {
  readonly child: Child;
  /** Resolves when the process is not there any more, or `stop` was called. */
  readonly gone: Promise<"gone" | "stopped">;
  stop(): void;
}

const DEFAULT_INTERVAL_MS = 10_000;

/**
 * Adopts a process that runs already, by its PID. What is claimed is its presence and nothing else: it is found
 * `created`, for a PID says nothing of what the process does; no capability is known; each look that finds it there is a
 * sign of life. When it is gone, that is a diagnostic and not an end: nobody has seen how it ended.
 * @returns `undefined` when there is no such process.
 */
export function adoptProcess(lifecycle: Lifecycle, options: AdoptProcessOptions): AdoptedProcess | undefined {
  const { pid, name, childId, parent, intervalMs = DEFAULT_INTERVAL_MS, clock = systemClock } = options;
  if (!pidExists(pid)) return undefined;
  const startTime = startTimeOf(pid);
  const child = lifecycle.adopt({
    ...(childId === undefined ? undefined : { childId }),
    ...(parent === undefined ? undefined : { parent }),
    details: { pid, ...(name === undefined ? undefined : { name }) },
  });
  let cancel: () => void = () => undefined;
  let settle: (how: "gone" | "stopped") => void = () => undefined;
  const gone = new Promise<"gone" | "stopped">((resolve) => {
    settle = resolve;
  });
  const isThere = (): boolean => pidExists(pid) && startTimeOf(pid) === startTime;
  const look = (): void => {
    if (isThere()) {
      child.heartbeat({ pid });
      cancel = clock.afterHolding(intervalMs, look);
    } else {
      child.diagnostic(`process ${pid} is not there any more; nobody has seen how it ended`, { pid });
      settle("gone");
    }
  };
  cancel = clock.afterHolding(intervalMs, look);
  return {
    child,
    gone,
    stop: () => {
      cancel();
      settle("stopped");
    },
  };
}
