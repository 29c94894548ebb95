import { ChildProcess } from "node:child_process";
import { type EventEmitter, errorMonitor } from "node:events";
import type { Carrier } from "../lineage/carrier.ts";
import { additionsFor, guarded, type Instrumentation, type InstrumentationOptions } from "./instrumentation.ts";
import { describeCommand, ObservedProcess } from "./observed-process.ts";

/** What Node.js hands to the one method that every way to start a process ends in. */
interface SpawnOptions {
  readonly file?: unknown;
  /** With the program's own name first. */
  readonly args?: unknown;
  /** `NAME=value` each. */
  readonly envPairs?: unknown;
}

type SpawnMethod = (this: ChildProcess, options: SpawnOptions) => unknown;
type KillMethod = ChildProcess["kill"];

interface Observation {
  readonly observed: ObservedProcess;
  wasCancelled: boolean;
}

/** Those of the whole thread: a process is observed once, however many instrumentations there are. */
const observations = new WeakMap<ChildProcess, Observation>();

/**
 * Reports every process that is started with `node:child_process` from now on: `spawn`, `exec`, `execFile` and `fork`, the
 * promise versions too, by whoever, also where the functions were imported before. The synchronous versions are left
 * alone: nothing can be told of a child while they block. Exit codes, signals, errors and streams are what they would be
 * without; the process gets the environment that lets its own children know where they come from.
 *
 * All of those end in `ChildProcess.prototype.spawn`, which takes the place of a patch for each, and of any that comes
 * too late for an import. Opt-in; call it once.
 */
export function instrumentChildProcess(options: InstrumentationOptions): Instrumentation {
  const prototype = ChildProcess.prototype as unknown as { spawn: SpawnMethod; kill: KillMethod };
  const { spawn, kill } = prototype;
  let enabled = true;

  const observedSpawn: SpawnMethod = function (spawnOptions) {
    const begun = enabled ? guarded(() => begin(this, spawnOptions, options)) : undefined;
    if (begun === undefined) return spawn.call(this, spawnOptions);
    let result: unknown;
    try {
      result = spawn.call(this, begun.spawnOptions);
    } catch (error) {
      guarded(() => begun.observation.observed.failedToSpawn(error));
      throw error;
    }
    guarded(() => follow(this, begun.observation));
    return result;
  };
  const observedKill: KillMethod = function (this: ChildProcess, signal) {
    const sent = kill.call(this, signal);
    const observation = observations.get(this);
    // Signal 0 only asks whether the process is there.
    if (sent && signal !== 0 && observation !== undefined) observation.wasCancelled = true;
    return sent;
  };
  prototype.spawn = observedSpawn;
  prototype.kill = observedKill;
  return {
    disable: () => {
      enabled = false;
      // Somebody may have put another one on top, which still calls ours.
      if (prototype.spawn === observedSpawn) prototype.spawn = spawn;
      if (prototype.kill === observedKill) prototype.kill = kill;
    },
  };
}

function begin(
  process: ChildProcess,
  spawnOptions: SpawnOptions,
  options: InstrumentationOptions,
): { readonly observation: Observation; readonly spawnOptions: SpawnOptions } | undefined {
  const { file, args, envPairs } = spawnOptions;
  if (typeof file !== "string" || observations.has(process)) return undefined;
  const programArguments = Array.isArray(args) ? args.slice(1).map(String) : [];
  const additions = additionsFor(options, { kind: "process", file, arguments: programArguments });
  if (additions === undefined) return undefined;
  const child = options.lifecycle.child({
    ...additions,
    capabilities: { terminalCause: "known", ...additions.capabilities },
    details: { ...describeCommand(file, programArguments, options.recordArguments === true), ...additions.details },
  });
  const observation = { observed: new ObservedProcess(child), wasCancelled: false };
  observations.set(process, observation);
  const carrier = child.environment({}) as Carrier;
  return {
    observation,
    spawnOptions: Array.isArray(envPairs)
      ? { ...spawnOptions, envPairs: withCarrier(envPairs as string[], carrier) }
      : spawnOptions,
  };
}

/** What is there under the same names goes: of two, the first would count. */
function withCarrier(envPairs: readonly string[], carrier: Carrier): readonly string[] {
  const kept = envPairs.filter((pair) => !Object.hasOwn(carrier, pair.slice(0, pair.indexOf("="))));
  return [...kept, ...Object.entries(carrier).map(([name, value]) => `${name}=${value}`)];
}

/** Listens in ways that change nothing: an error nobody else listens for is still thrown. */
function follow(process: ChildProcess, observation: Observation): void {
  const { observed } = observation;
  process.once("spawn", () => observed.spawned(process.pid));
  (process as EventEmitter).once(errorMonitor, (error: unknown) => {
    if (process.pid === undefined) observed.failedToSpawn(error);
  });
  process.once("exit", (exitCode, signal) => {
    // A process may be over before it was said to have begun.
    observed.spawned(process.pid);
    observed.ended({ exitCode, signal, wasCancelled: observation.wasCancelled });
  });
}
