import type { Attributes, Logger } from "@opentelemetry/api";
import type { LogRecordExporter, LogRecordProcessor, ReadableLogRecord } from "@opentelemetry/sdk-logs";
import { LoggerProvider } from "@opentelemetry/sdk-logs";

/** Takes every batch and forgets it. */
export const FORGETTING_EXPORTER: LogRecordExporter = {
  export: (_records, resultCallback) => resultCallback({ code: 0 }),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

const MAX_BATCH_SIZE = 512;

/** Does nothing in the host's call but keep the record: no processor can do less. */
class BufferingProcessor implements LogRecordProcessor {
  #records: ReadableLogRecord[] = [];

  onEmit(record: ReadableLogRecord): void {
    this.#records.push(record);
  }

  forceFlush(): Promise<void> {
    const records = this.#records;
    this.#records = [];
    for (let start = 0; start < records.length; start += MAX_BATCH_SIZE) {
      FORGETTING_EXPORTER.export(records.slice(start, start + MAX_BATCH_SIZE), () => {});
    }
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.forceFlush();
  }
}

/** OpenTelemetry as it comes, for a host that writes the attributes of a lifecycle event itself. */
export interface BareLogger {
  readonly heartbeat: () => void;
  readonly activity: (text: string) => void;
  readonly activityWithTool: (text: string, tool: string) => void;
  readonly flush: () => Promise<void>;
}

/** @param childId the child that everything is about; its parent is `rootChildId`. */
export function createBareLogger(
  source: string,
  sourceEpoch: string,
  childId: string,
  rootChildId: string,
): BareLogger {
  const processor = new BufferingProcessor();
  const logger = new LoggerProvider({ processors: [processor] }).getLogger("agent-lifecycle", "0.1.0");
  const eventIdPrefix = `${childId}/${sourceEpoch}/`;
  let sequence = 0;
  const attributes = (eventName: string, own?: Attributes): Attributes => {
    sequence += 1;
    const eventId = eventIdPrefix + sequence;
    return {
      "agent_lifecycle.schema_version": 1,
      "agent_lifecycle.event_id": eventId,
      "log.record.uid": eventId,
      event_name: eventName,
      "agent_lifecycle.source": source,
      "agent_lifecycle.source_epoch": sourceEpoch,
      "agent_lifecycle.child_id": childId,
      "agent_lifecycle.root_child_id": rootChildId,
      "agent_lifecycle.attempt": 0,
      "agent_lifecycle.external": false,
      "agent_lifecycle.parent_child_id": rootChildId,
      "agent_lifecycle.sequence": sequence,
      ...own,
    };
  };
  return {
    heartbeat: () => emit(logger, "agent_lifecycle.heartbeat", "heartbeat", attributes("agent_lifecycle.heartbeat")),
    activity: (text) => {
      const own = { "agent_lifecycle.activity": text };
      emit(logger, "agent_lifecycle.activity", text, attributes("agent_lifecycle.activity", own));
    },
    activityWithTool: (text, tool) => {
      const own = {
        "agent_lifecycle.activity": text,
        "agent_lifecycle.details": JSON.stringify({ tool }),
        "gen_ai.tool.name": tool,
      };
      emit(logger, "agent_lifecycle.activity", text, attributes("agent_lifecycle.activity", own));
    },
    flush: () => processor.forceFlush(),
  };
}

function emit(logger: Logger, eventName: string, body: string, attributes: Attributes): void {
  const now = Date.now();
  logger.emit({
    eventName,
    timestamp: now,
    observedTimestamp: now,
    severityNumber: 5,
    severityText: "DEBUG",
    body,
    attributes,
  });
}
