import { SCOPE_NAME } from "@agent-lifecycle/proto";
import type { LoggerProvider, SpanContext } from "@opentelemetry/api";
import type { DeliveryCounters } from "../counters.ts";
import { logRecordOf } from "../log-record-mapping.ts";
import { SDK_VERSION } from "../version.ts";
import { contextOfNow } from "./active-trace.ts";
import type { EventSink } from "./event-sink.ts";

/** The host's provider delivers: an event is done with when it has been emitted there. */
export function createHostSink(
  loggerProvider: LoggerProvider,
  counters: DeliveryCounters,
  inheritedTrace: SpanContext | undefined,
): EventSink {
  const logger = loggerProvider.getLogger(SCOPE_NAME, SDK_VERSION);
  return {
    accept: (event, observedAtMs) => {
      const context = contextOfNow(inheritedTrace);
      const record = logRecordOf(event, observedAtMs);
      logger.emit(context === undefined ? record : { ...record, context });
      counters.handedToHost += 1;
    },
    buffered: () => 0,
    spooled: () => 0,
    flush: () => Promise.resolve(),
    settleNow: () => undefined,
    close: () => Promise.resolve(),
  };
}
