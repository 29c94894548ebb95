import type { MeterProvider, ObservableResult } from "@opentelemetry/api";
import type { LifecycleCounters } from "./lifecycle.ts";
import { SDK_VERSION } from "./version.ts";

const METER_NAME = "agent-lifecycle";
const OUTCOME = "agent_lifecycle.outcome";

/**
 * Exports the counters of a lifecycle as metrics of the host: `agent_lifecycle.sdk.events`, by outcome and for dropped
 * ones by `error.type`, and `agent_lifecycle.sdk.waiting`, by place. They are read when the host collects; nothing is
 * done in between.
 */
export function exportCounters(meterProvider: MeterProvider, source: string, counters: () => LifecycleCounters): void {
  const meter = meterProvider.getMeter(METER_NAME, SDK_VERSION);
  const events = meter.createObservableCounter("agent_lifecycle.sdk.events", {
    unit: "{event}",
    description: "Events that have met their fate, by what it was",
  });
  const waiting = meter.createObservableUpDownCounter("agent_lifecycle.sdk.waiting", {
    unit: "{event}",
    description: "Events whose fate is open, by where they wait",
  });
  const own = { "agent_lifecycle.source": source };
  const observeEvents = (result: ObservableResult): void => {
    const { exported, writtenToJsonl, handedToHost, suppressed, adopted, dropped } = counters();
    const outcomes = { exported, written_to_jsonl: writtenToJsonl, handed_to_host: handedToHost, suppressed, adopted };
    for (const [outcome, count] of Object.entries(outcomes)) result.observe(count, { ...own, [OUTCOME]: outcome });
    for (const [reason, count] of Object.entries(dropped)) {
      result.observe(count, { ...own, [OUTCOME]: "dropped", "error.type": reason });
    }
  };
  const observeWaiting = (result: ObservableResult): void => {
    const { buffered, spooled } = counters();
    result.observe(buffered, { ...own, "agent_lifecycle.place": "buffer" });
    result.observe(spooled, { ...own, "agent_lifecycle.place": "spool" });
  };
  events.addCallback(observeEvents);
  waiting.addCallback(observeWaiting);
}
