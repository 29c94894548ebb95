import type { DeliveryCounters } from "../counters.ts";
import type { EventSink } from "./event-sink.ts";

/** The lifecycle is switched off: its children work, and nothing leaves them. */
export function createNoSink(counters: DeliveryCounters): EventSink {
  return {
    accept: () => {
      counters.suppressed += 1;
    },
    buffered: () => 0,
    spooled: () => 0,
    flush: () => Promise.resolve(),
    settleNow: () => undefined,
    close: () => Promise.resolve(),
  };
}
