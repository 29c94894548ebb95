import { SCOPE_NAME } from "@agent-lifecycle/proto";
import { context, type SpanContext } from "@opentelemetry/api";
import { suppressTracing } from "@opentelemetry/core";
import { LoggerProvider } from "@opentelemetry/sdk-logs";
import type { Clock } from "../clock.ts";
import type { BatchingConfiguration } from "../configuration.ts";
import type { SpoolConfiguration } from "../configuration-spool.ts";
import type { DeliveryCounters, DropReason } from "../counters.ts";
import type { Diagnostics } from "../diagnostics.ts";
import { SDK_VERSION } from "../version.ts";
import { contextOfNow } from "./active-trace.ts";
import { BoundedLogRecordProcessor } from "./bounded-log-record-processor.ts";
import { DeliveryEpisodes } from "./delivery-episodes.ts";
import type { BatchTransport } from "./delivery-outcome.ts";
import type { Entry } from "./entry-queue.ts";
import type { EventSink } from "./event-sink.ts";
import type { JsonlWriter } from "./jsonl-writer.ts";
import { producerResource } from "./resource.ts";
import { SpoolDetour } from "./spool-detour.ts";

export interface RecordSinkSettings {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly batching: BatchingConfiguration;
  readonly transport: BatchTransport;
  /** Where events lie while the endpoint is away, and the name of the endpoint. */
  readonly spool: { readonly configuration: SpoolConfiguration; readonly destination: string } | undefined;
  /** Where events go that could not be delivered. */
  readonly fallback: JsonlWriter | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counters: DeliveryCounters;
  readonly diagnostics: Diagnostics;
  readonly inheritedTrace: SpanContext | undefined;
}

/**
 * Events become OpenTelemetry records of a provider of our own. While the endpoint is away they go round by the spool;
 * what cannot be delivered at all goes to the fallback.
 */
export function createRecordSink(settings: RecordSinkSettings): EventSink {
  const { counters, diagnostics, fallback, clock, random, batching, inheritedTrace } = settings;
  const transport = withoutTracing(settings.transport);
  const episodes = new DeliveryEpisodes(diagnostics);

  const undeliverable = (entries: readonly Undeliverable[], reason: DropReason): void => {
    if (fallback === undefined) {
      counters.drop(reason, entries.length);
      episodes.dropped(reason);
    } else for (const entry of entries) fallback.write(entry.event);
  };
  const detour =
    settings.spool === undefined
      ? undefined
      : new SpoolDetour({
          spool: settings.spool.configuration,
          destination: settings.spool.destination,
          maxBatchSize: batching.maxBatchSize,
          maxBufferedEvents: batching.maxBufferedEvents,
          transport,
          clock,
          random,
          counters,
          episodes,
          undeliverable,
          inheritedTrace,
          onInternalError: (error) => diagnostics.internalError(error),
        });
  const processor = new BoundedLogRecordProcessor({
    batching,
    transport,
    clock,
    random,
    hasFallback: fallback !== undefined,
    diverts: detour !== undefined,
    listener: {
      onDelivered: (entries, rejected, message) => {
        counters.exported += entries.length - rejected;
        counters.reject(rejected, message ?? "");
        if (rejected > 0 || message !== undefined) episodes.rejected(rejected, message);
        episodes.delivered();
      },
      onFailed: (entries, reason, problem) => {
        episodes.failing(problem);
        undeliverable(entries, reason);
      },
      onUnavailable: (entries, problem, notBeforeMs) => {
        episodes.failing(problem);
        detour?.divert(entries, notBeforeMs);
      },
      onOverflow: (entry) => {
        if (detour === undefined) undeliverable([entry], "buffer_full");
        // What waits goes first, and new events follow it.
        else detour.divert([...processor.withdrawAll(), entry], undefined);
      },
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
    accept: (event, observedAtMs, isOld) => {
      if (detour?.isInUse === true) {
        detour.accept(event);
        return;
      }
      processor.expect(event, isOld);
      const emitContext = contextOfNow(inheritedTrace);
      logger.emit(
        emitContext === undefined
          ? { timestamp: observedAtMs, observedTimestamp: observedAtMs }
          : { timestamp: observedAtMs, observedTimestamp: observedAtMs, context: emitContext },
      );
    },
    buffered: () => processor.pending() + (detour?.inMemory ?? 0) + (fallback?.pending() ?? 0),
    spooled: () => detour?.onDisk ?? 0,
    flush: async (patience) => {
      const wasInUse = detour?.isInUse === true;
      await processor.flush(patience);
      await detour?.flush(wasInUse);
      await fallback?.flush();
    },
    settleNow: (reason) => {
      const entries = processor.withdrawAll();
      if (detour === undefined) undeliverable(entries, reason);
      else detour.settleNow(entries);
      fallback?.writeNow();
    },
    close: async () => {
      detour?.close();
      await transport.close();
      await fallback?.close();
    },
  };
}

type Undeliverable = Pick<Entry, "event">;

/** The requests that carry telemetry must not become telemetry themselves in a host that traces its HTTP. */
function withoutTracing(transport: BatchTransport): BatchTransport {
  return {
    send: (records, signal) => context.with(suppressTracing(context.active()), () => transport.send(records, signal)),
    close: () => transport.close(),
  };
}
