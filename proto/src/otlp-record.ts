import type { LifecycleEvent } from "./event.ts";
import { type AttributeValue, attributesOf, eventName } from "./otlp-attributes.ts";
import { bodyOf, type Severity, severityOf } from "./otlp-presentation.ts";
import { parseTimestamp } from "./timestamp.ts";

/** One event on its way out. */
export interface RecordToEncode {
  readonly event: LifecycleEvent;
  /** When this record is emitted, in milliseconds since 1970; becomes ObservedTimestamp. */
  readonly emittedAtMs: number;
  /** 32 hexadecimal digits. */
  readonly traceId?: string;
  /** 16 hexadecimal digits. */
  readonly spanId?: string;
}

/** Events of one producer: they share a resource and a scope. */
export interface LogsToEncode {
  readonly resourceAttributes: Readonly<Record<string, AttributeValue>>;
  /** Version of the software that made the records. */
  readonly scopeVersion?: string;
  readonly records: readonly RecordToEncode[];
}

/** The log record of an event, before it takes the form of protobuf or JSON. */
export interface LogRecord {
  readonly timeMs: number;
  readonly observedTimeMs: number;
  readonly severity: Severity;
  readonly body: string;
  readonly eventName: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
}

export function logRecordOf(record: RecordToEncode): LogRecord {
  const { event } = record;
  return {
    timeMs: parseTimestamp(event.observedAt) ?? 0,
    observedTimeMs: record.emittedAtMs,
    severity: severityOf(event),
    body: bodyOf(event),
    eventName: eventName(event.kind),
    attributes: attributesOf(event),
    traceId: identifier(record.traceId, 32),
    spanId: identifier(record.spanId, 16),
  };
}

/** An id that is no id is left out: the record is worth more than its context. */
function identifier(text: string | undefined, digits: number): string | undefined {
  if (text === undefined || text.length !== digits) return undefined;
  return /^[0-9a-fA-F]+$/.test(text) && !/^0+$/.test(text) ? text.toLowerCase() : undefined;
}
