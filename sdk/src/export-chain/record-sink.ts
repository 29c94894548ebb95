import { SCOPE_NAME } from "@agent-lifecycle/proto";
import { context } from "@opentelemetry/api";
import { suppressTracing } from "@opentelemetry/core";
import { LoggerProvider } from "@opentelemetry/sdk-logs";
import type { Clock } from "../clock.ts";
import type { BatchingConfiguration } from "../configuration.ts";
import type { DeliveryCounters, DropReason } from "../counters.ts";
import type { Diagnostics } from "../diagnostics.ts";
import { SDK_VERSION } from "../version.ts";
import { BoundedLogRecordProcessor } from "./bounded-log-record-processor.ts";
import type { BatchTransport } from "./delivery-outcome.ts";
import type { Entry } from "./entry-queue.ts";
import type { EventSink } from "./event-sink.ts";
import type { JsonlWriter } from "./jsonl-writer.ts";
import { producerResource } from "./resource.ts";

export interface RecordSinkSettings {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly batching: BatchingConfiguration;
  readonly transport: BatchTransport;
  /** Where events go that could not be delivered. */
  readonly fallback: JsonlWriter | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counters: DeliveryCounters;
  readonly diagnostics: Diagnostics;
}

/** Events become OpenTelemetry records of a provider of our own; what cannot be delivered goes to the fallback. */
export function createRecordSink(settings: RecordSinkSettings): EventSink {
  const { counters, diagnostics, fallback, transport } = settings;
  const episodes = new DeliveryEpisodes(diagnostics);

  const undeliverable = (entries: readonly Entry[], reason: DropReason): void => {
    if (fallback === undefined) {
      counters.drop(reason, entries.length);
      episodes.dropped(reason);
    } else for (const entry of entries) fallback.write(entry.event);
  };
  const processor = new BoundedLogRecordProcessor({
    batching: settings.batching,
    transport: withoutTracing(transport),
    clock: settings.clock,
    random: settings.random,
    hasFallback: fallback !== undefined,
    listener: {
      onDelivered: (entries, rejected, message) => {
        counters.exported += entries.length - rejected;
        counters.drop("rejected_by_endpoint", rejected);
        if (rejected > 0 || message !== undefined) episodes.rejected(rejected, message);
        episodes.delivered();
      },
      onFailed: (entries, reason, problem) => {
        episodes.failing(problem);
        undeliverable(entries, reason);
      },
      onOverflow: (entry) => undeliverable([entry], "buffer_full"),
      onRetry: (problem) => episodes.failing(problem),
      onInternalError: (error) => diagnostics.internalError(error),
    },
  });
  const provider = new LoggerProvider({
    resource: producerResource(settings.source, settings.sourceEpoch),
    // Our attributes are bounded already; a limit below theirs would cut identities.
    logRecordLimits: { attributeCountLimit: 128, attributeValueLengthLimit: Number.POSITIVE_INFINITY },
    processors: [processor],
  });
  const logger = provider.getLogger(SCOPE_NAME, SDK_VERSION);

  return {
    accept: (event, observedAtMs) => {
      processor.expect(event);
      logger.emit({ timestamp: observedAtMs, observedTimestamp: observedAtMs });
    },
    buffered: () => processor.pending() + (fallback?.pending() ?? 0),
    flush: async (patience) => {
      await processor.flush(patience);
      await fallback?.flush();
    },
    settleNow: (reason) => {
      undeliverable(processor.withdrawAll(), reason);
      fallback?.writeNow();
    },
    close: async () => {
      await transport.close();
      await fallback?.close();
    },
  };
}

/** Tells of the first failure of a row and of its end, not of every batch between. */
class DeliveryEpisodes {
  readonly #diagnostics: Diagnostics;
  readonly #dropReasons = new Set<DropReason>();
  #isFailing = false;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  failing(problem: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#diagnostics.report("export_failed", problem);
  }

  dropped(reason: DropReason): void {
    if (this.#dropReasons.has(reason)) return;
    this.#dropReasons.add(reason);
    this.#diagnostics.report("events_dropped", `events are dropped: ${reason}`);
  }

  rejected(count: number, message: string | undefined): void {
    this.#diagnostics.report("events_rejected", `${count} rejected by the endpoint: ${message ?? "no reason given"}`);
  }

  delivered(): void {
    this.#dropReasons.clear();
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#diagnostics.report("export_recovered", "the endpoint takes events again");
  }
}

/** The requests that carry telemetry must not become telemetry themselves in a host that traces its HTTP. */
function withoutTracing(transport: BatchTransport): BatchTransport {
  return {
    send: (records, signal) => context.with(suppressTracing(context.active()), () => transport.send(records, signal)),
    close: () => transport.close(),
  };
}
