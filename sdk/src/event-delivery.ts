import { randomUUID } from "node:crypto";
import { type LifecycleEvent, parseTimestamp } from "@agent-lifecycle/proto";
import { systemClock } from "./clock.ts";
import { describeProblem, resolveConfiguration } from "./configuration.ts";
import { DeliveryCounters } from "./counters.ts";
import { beforeDeadline } from "./deadline.ts";
import { Diagnostics } from "./diagnostics.ts";
import { createEventSink } from "./export-chain/event-sink-selection.ts";
import type { DeadlineOptions, FlushResult } from "./lifecycle.ts";
import type { LifecycleOptions } from "./options.ts";

/** Which way the events took; those that are neither are still buffered. */
export interface EventDeliveryCounters {
  /** Handed to `deliver`. */
  readonly accepted: number;
  /** Taken by the endpoint, written to JSONL, or handed to the host. */
  readonly delivered: number;
  /** In the spool, for the next process that has it. */
  readonly spooled: number;
  /** Lost, for whatever reason. */
  readonly dropped: number;
}

/** The way of events that are made already: the same one that a lifecycle's events take. */
export interface EventDelivery {
  deliver(event: LifecycleEvent): void;
  /** Resolves when everything that was handed over is delivered, spooled or dropped, or at the deadline. */
  flush(options?: DeadlineOptions): Promise<FlushResult>;
  /** Flushes, and gives up sockets and files. What is open at the deadline goes to the spool or JSONL, or is dropped. */
  close(options?: DeadlineOptions): Promise<FlushResult>;
  counters(): EventDeliveryCounters;
}

const DEFAULT_TIMEOUT_MS = 5_000;
/** What was observed so long before it is delivered is no sign of life any more: it counts from its own time (S1). */
const OLD_AFTER_MS = 10_000;

/**
 * Opens a delivery of normalized events, such as adapters make. Never throws for values that cannot be used: they are
 * diagnostics, and their defaults hold. Exit hooks and heartbeats are for lifecycles: here they are not looked at.
 */
export function openEventDelivery(options: LifecycleOptions): EventDelivery {
  const diagnostics = new Diagnostics(options.onDiagnostic);
  const { configuration, problems } = resolveConfiguration(options, process.env);
  for (const problem of problems) {
    diagnostics.report("invalid_configuration", describeProblem(problem), { path: problem.path });
  }
  const counters = new DeliveryCounters();
  const sink = createEventSink(configuration, {
    sourceEpoch: configuration.sourceEpoch ?? randomUUID(),
    clock: systemClock,
    random: Math.random,
    counters,
    diagnostics,
    inheritedTrace: undefined,
  });
  const flush = async ({ timeoutMs = DEFAULT_TIMEOUT_MS }: DeadlineOptions = {}): Promise<FlushResult> => ({
    complete: await beforeDeadline(sink.flush("until_deadline"), timeoutMs, systemClock),
  });
  return {
    deliver: (event) => {
      counters.emitted += 1;
      const now = systemClock.now();
      const observedAtMs = parseTimestamp(event.observedAt) ?? now;
      sink.accept(event, observedAtMs, now - observedAtMs > OLD_AFTER_MS);
    },
    flush,
    close: async (deadline) => {
      const result = await flush(deadline);
      if (!result.complete) sink.settleNow("shutdown_timeout");
      await sink.close();
      return result;
    },
    counters: () => ({
      accepted: counters.emitted,
      delivered: counters.exported + counters.writtenToJsonl + counters.handedToHost,
      spooled: sink.spooled(),
      dropped: counters.suppressed + Object.values(counters.dropped()).reduce((sum, count) => sum + count, 0),
    }),
  };
}
