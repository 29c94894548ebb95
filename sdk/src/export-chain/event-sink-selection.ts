import type { SpanContext } from "@opentelemetry/api";
import type { Clock } from "../clock.ts";
import type { Configuration } from "../configuration.ts";
import type { DeliveryCounters } from "../counters.ts";
import type { Diagnostics } from "../diagnostics.ts";
import type { JsonlDestination } from "../options.ts";
import type { EventSink } from "./event-sink.ts";
import { createExporterTransport } from "./exporter-transport.ts";
import { createHostSink } from "./host-sink.ts";
import { createJsonlSink } from "./jsonl-sink.ts";
import { createJsonlTarget } from "./jsonl-target-selection.ts";
import { JsonlWriter } from "./jsonl-writer.ts";
import { createNoSink } from "./no-sink.ts";
import { createOtlpTransport } from "./otlp-transport.ts";
import { createRecordSink } from "./record-sink.ts";

export interface SinkContext {
  readonly sourceEpoch: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counters: DeliveryCounters;
  readonly diagnostics: Diagnostics;
  /** The trace that the process was started in: events belong to it where no other is active. */
  readonly inheritedTrace: SpanContext | undefined;
}

/** Builds what the configuration names: OTLP, then the spool, then JSONL, then a counted drop. The one place that knows them all. */
export function createEventSink(configuration: Configuration, sinkContext: SinkContext): EventSink {
  const { destination, batching, source } = configuration;
  const { clock, counters, diagnostics } = sinkContext;
  const writerTo = (jsonl: JsonlDestination): JsonlWriter =>
    new JsonlWriter({
      target: createJsonlTarget(jsonl),
      maxBufferedEvents: batching.maxBufferedEvents,
      clock,
      counters,
      diagnostics,
    });
  switch (destination.kind) {
    case "none":
      return createNoSink(counters);
    case "host":
      return createHostSink(destination.loggerProvider, counters, sinkContext.inheritedTrace);
    case "jsonl":
      return createJsonlSink(writerTo(destination.jsonl));
    case "otlp":
    case "exporter": {
      const { spool: configuration } = destination;
      const spool =
        configuration === undefined
          ? undefined
          : { configuration, destination: destination.kind === "otlp" ? destination.otlp.url : "exporter" };
      const transport =
        destination.kind === "otlp"
          ? createOtlpTransport(destination.otlp, batching.maxConcurrentExports, () => clock.now())
          : createExporterTransport(destination.exporter, clock, batching.exportTimeoutMs, spool !== undefined);
      const fallback = destination.fallback === undefined ? undefined : writerTo(destination.fallback);
      return createRecordSink({ ...sinkContext, source, batching, transport, spool, fallback });
    }
  }
}
