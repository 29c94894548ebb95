import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "./clock.ts";
import {
  type Configuration,
  describeProblem,
  type ResolvedConfiguration,
  resolveConfiguration,
} from "./configuration.ts";
import type { Environment } from "./configuration-otlp.ts";
import { DeliveryCounters } from "./counters.ts";
import { Diagnostics, textOfError } from "./diagnostics.ts";
import { registerForExit } from "./exit-hooks.ts";
import type { EventSink } from "./export-chain/event-sink.ts";
import { createEventSink, type SinkContext } from "./export-chain/event-sink-selection.ts";
import { createNoSink } from "./export-chain/no-sink.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { LifecycleHandle } from "./lifecycle-handle.ts";
import { type Inheritance, inheritanceFrom } from "./lineage/carrier.ts";
import type { LifecycleOptions } from "./options.ts";
import { exportCounters } from "./self-metrics.ts";
import { inheritedContract, visibilityContractOf } from "./visibility.ts";

/**
 * What a test replaces to be in charge of time and chance.
 * @internal
 */
export interface LifecycleSeams {
  readonly clock?: Clock;
  readonly createId?: () => string;
  /** In [0, 1), for the back-off. */
  readonly random?: () => number;
  readonly environment?: Environment;
  /** What a worker thread was given. */
  readonly workerData?: unknown;
}

/**
 * Makes a lifecycle. Never throws: options that cannot be used are diagnostics (`invalid_configuration`) and their
 * defaults hold; without a usable `source` the lifecycle is switched off, and says so.
 */
export function createLifecycle(options: LifecycleOptions, seams: LifecycleSeams = {}): Lifecycle {
  const { clock = systemClock, createId = randomUUID, random = Math.random, environment = process.env } = seams;
  const diagnostics = new Diagnostics(listenerOf(options));
  const counters = new DeliveryCounters();
  const { configuration, problems } = resolved(options, environment);
  for (const problem of problems) {
    diagnostics.report("invalid_configuration", describeProblem(problem), { path: problem.path });
  }
  const inheritance = inherited(environment, seams, diagnostics);
  const sourceEpoch = configuration.sourceEpoch ?? createId();
  const sink = sinkOf(configuration, {
    sourceEpoch,
    clock,
    random,
    counters,
    diagnostics,
    inheritedTrace: inheritance.spanContext,
  });
  const handle = new LifecycleHandle({
    source: configuration.source,
    sourceEpoch,
    heartbeatIntervalMs: configuration.heartbeatIntervalMs,
    clock,
    createId,
    sink,
    counters,
    diagnostics,
    inheritance,
    inheritedVisibility: inheritedContract(environment),
    visibilityOf: (child, stated) =>
      visibilityContractOf(configuration, sourceEpoch, child, stated, (path, text) =>
        diagnostics.report("invalid_argument", `visibility ${path} ${text}`, { path: `visibility.${path}` }),
      ),
  });
  exportCountersOf(handle, options, diagnostics);
  const { kind } = configuration.destination;
  if (configuration.exitHooks && kind !== "none" && kind !== "host") {
    const unregister = registerForExit({
      sink,
      onExit: () => handle.settleAtOnce(),
      emitted: () => counters.emitted,
      timeoutMs: configuration.exitTimeoutMs,
      clock,
    });
    handle.onShutdown(unregister);
  }
  return handle;
}

/** A shutdown does not end it: what was lost then is what a host wants to see. */
function exportCountersOf(handle: LifecycleHandle, options: LifecycleOptions, diagnostics: Diagnostics): void {
  try {
    const meterProvider = options?.meterProvider;
    if (meterProvider !== undefined) exportCounters(meterProvider, handle.source, () => handle.counters());
  } catch (error) {
    diagnostics.report("invalid_configuration", `meterProvider cannot be used: ${textOfError(error)}`, {
      path: "meterProvider",
    });
  }
}

function inherited(environment: Environment, seams: LifecycleSeams, diagnostics: Diagnostics): Inheritance {
  try {
    return "workerData" in seams ? inheritanceFrom(environment, seams.workerData) : inheritanceFrom(environment);
  } catch (error) {
    diagnostics.internalError(error);
    return {};
  }
}

/** A host's own provider may throw when it is asked for a logger. */
function sinkOf(configuration: Configuration, sinkContext: SinkContext): EventSink {
  try {
    return createEventSink(configuration, sinkContext);
  } catch (error) {
    sinkContext.diagnostics.internalError(error);
    return createNoSink(sinkContext.counters);
  }
}

function resolved(options: LifecycleOptions, environment: Environment): ResolvedConfiguration {
  try {
    return resolveConfiguration(options ?? {}, environment);
  } catch (error) {
    // A getter of the options threw: nothing of them can be trusted, but the defaults of an empty environment can.
    const { configuration } = resolveConfiguration({ source: "" }, {});
    return { configuration, problems: [{ path: "options", rule: `cannot be read: ${textOfError(error)}` }] };
  }
}

function listenerOf(options: LifecycleOptions | undefined): LifecycleOptions["onDiagnostic"] {
  try {
    const listener = options?.onDiagnostic;
    return typeof listener === "function" ? listener : undefined;
  } catch {
    return undefined;
  }
}
