import { ATTRIBUTES, attributesOf, bodyOf, eventName, type LifecycleEvent, severityOf } from "@agent-lifecycle/proto";
import type { LogRecord } from "@opentelemetry/api";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";

/**
 * The log record an event travels as. No context is set: the logger attaches the active trace itself.
 * `observedAtMs` is the event's own time, milliseconds; it is emitted in the turn it was observed in.
 */
export function logRecordOf(event: LifecycleEvent, observedAtMs: number): LogRecord {
  const severity = severityOf(event);
  return {
    eventName: eventName(event.kind),
    timestamp: observedAtMs,
    observedTimestamp: observedAtMs,
    severityNumber: severity.number,
    severityText: severity.text,
    body: bodyOf(event),
    attributes: attributesOf(event),
  };
}

/**
 * Completes a record that was emitted with its times and trace context alone. The rest is derived from the event when
 * a batch is sent, not in the host's call: that makes emitting cheaper than a record with its attributes.
 * `isOld`: it comes from a spool, and says so.
 */
export function completedRecord(bare: ReadableLogRecord, event: LifecycleEvent, isOld: boolean): ReadableLogRecord {
  const attributes = attributesOf(event);
  if (isOld) attributes[ATTRIBUTES.backfill] = true;
  const severity = severityOf(event);
  return {
    hrTime: bare.hrTime,
    hrTimeObserved: bare.hrTimeObserved,
    ...(bare.spanContext === undefined ? undefined : { spanContext: bare.spanContext }),
    resource: bare.resource,
    instrumentationScope: bare.instrumentationScope,
    droppedAttributesCount: 0,
    eventName: eventName(event.kind),
    severityNumber: severity.number,
    severityText: severity.text,
    body: bodyOf(event),
    attributes,
  };
}
