import { errorMonitor } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import workerThreads, { SHARE_ENV, type Worker, type WorkerOptions } from "node:worker_threads";
import type { Child } from "../child.ts";
import { additionsFor, guarded, type Instrumentation, type InstrumentationOptions } from "./instrumentation.ts";
import { describeCommand } from "./observed-process.ts";

type WorkerClass = typeof Worker;

const terminated = new WeakSet<Worker>();

/**
 * Reports every worker thread that is made from now on: made → starting, online → running, its exit → completed, cancelled
 * when it was terminated, failed otherwise. The thread gets what lets its own children know where they come from, in its
 * environment, or in a plain `workerData` where it shares the environment of its maker; nothing else of it changes.
 * Opt-in; call it once, before the modules that import `Worker` by a `require` are loaded.
 */
export function instrumentWorkerThreads(options: InstrumentationOptions): Instrumentation {
  const original: WorkerClass = workerThreads.Worker;
  const { terminate } = original.prototype;
  let enabled = true;
  const observedTerminate: Worker["terminate"] = function (this: Worker) {
    terminated.add(this);
    return terminate.call(this);
  };
  const Observed = new Proxy(original, {
    construct: (target, given: [string | URL, WorkerOptions?], newTarget) => {
      const child = enabled ? guarded(() => begin(given[0], given[1], options)) : undefined;
      if (child === undefined) return Reflect.construct(target, given, newTarget) as Worker;
      const [file, workerOptions, ...rest] = given;
      const carried = guarded(() => withCarrier(workerOptions, child)) ?? workerOptions;
      let worker: Worker;
      try {
        worker = Reflect.construct(target, [file, carried, ...rest], newTarget) as Worker;
      } catch (error) {
        guarded(() => child.failed("spawn_failed", { error: error instanceof Error ? error.message : String(error) }));
        throw error;
      }
      guarded(() => follow(worker, child));
      return worker;
    },
  });
  workerThreads.Worker = Observed;
  original.prototype.terminate = observedTerminate;
  syncBuiltinESMExports();
  return {
    disable: () => {
      enabled = false;
      if (workerThreads.Worker === Observed) workerThreads.Worker = original;
      if (original.prototype.terminate === observedTerminate) original.prototype.terminate = terminate;
      syncBuiltinESMExports();
    },
  };
}

function begin(
  file: string | URL,
  workerOptions: WorkerOptions | undefined,
  options: InstrumentationOptions,
): Child | undefined {
  // Code that is given as text may be anything, and says nothing.
  const name = workerOptions?.eval === true ? "eval" : file instanceof URL ? file.pathname : String(file);
  const workerArguments = (workerOptions?.argv ?? []).map(String);
  const additions = additionsFor(options, { kind: "thread", file: name, arguments: workerArguments });
  if (additions === undefined) return undefined;
  const child = options.lifecycle.child({
    ...additions,
    capabilities: { terminalCause: "known", ...additions.capabilities },
    details: { ...describeCommand(name, workerArguments, options.recordArguments === true), ...additions.details },
  });
  return child;
}

function withCarrier(workerOptions: WorkerOptions | undefined, child: Child): WorkerOptions | undefined {
  const environment: unknown = workerOptions?.env;
  if (environment !== SHARE_ENV) {
    const base = environment === undefined || environment === null ? process.env : environment;
    return { ...workerOptions, env: child.environment(base as NodeJS.ProcessEnv) };
  }
  const data: unknown = workerOptions?.workerData;
  const isPlain = typeof data === "object" && data !== null && Object.getPrototypeOf(data) === Object.prototype;
  return data === undefined || isPlain ? { ...workerOptions, workerData: child.workerData(data ?? {}) } : workerOptions;
}

function follow(worker: Worker, child: Child): void {
  child.starting({ threadId: worker.threadId });
  let failure: unknown;
  worker.once("online", () => child.running());
  worker.once(errorMonitor, (error: unknown) => {
    failure = error;
  });
  worker.once("exit", (exitCode) => {
    if (failure !== undefined) child.failed(failure);
    else if (exitCode === 0) {
      if (child.state === "starting") child.running({ inferred: true });
      child.completed({ exitCode });
    } else if (terminated.has(worker)) child.cancelled({ exitCode });
    else child.failed("exit_code", { exitCode });
  });
}
