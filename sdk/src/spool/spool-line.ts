import { canonicalEvent, createJsonlReader, type LifecycleEvent, normalizeEvent } from "@agent-lifecycle/proto";
import { isSpanContextValid, type SpanContext } from "@opentelemetry/api";

/** An event as it lies in a spool: what happened, and the trace it happened in. */
export interface SpooledEvent {
  readonly event: LifecycleEvent;
  readonly spanContext?: SpanContext;
}

/**
 * One line: the event's canonical form with the trace context as a member more. Readers of event lines pass over
 * members that they do not know, so a segment is a JSONL file that a collector can read too.
 */
export function spoolLine({ event, spanContext }: SpooledEvent): string {
  const line = canonicalEvent(event);
  if (spanContext === undefined || !isSpanContextValid(spanContext)) return `${line}\n`;
  const { traceId, spanId, traceFlags } = spanContext;
  return `${line.slice(0, -1)},"traceContext":${JSON.stringify({ traceId, spanId, traceFlags })}}\n`;
}

export interface SegmentContent {
  readonly events: readonly SpooledEvent[];
  /** Lines that hold no event: cut by a crash, or damaged. */
  readonly damaged: number;
}

/** Longest line read: details of 16 KiB may take several times that as JSON. */
const MAX_LINE_BYTES = 256 * 1024;

/** Reads a segment. It is checked as anything from outside: a file may have been changed by anybody. */
export function readSegment(bytes: Uint8Array): SegmentContent {
  const reader = createJsonlReader({ maxLineBytes: MAX_LINE_BYTES });
  const events: SpooledEvent[] = [];
  let invalid = 0;
  for (const item of [...reader.push(bytes), ...reader.end()]) {
    if (!item.ok) continue;
    const normalized = normalizeEvent(item.value);
    if (normalized.ok) events.push(withTrace(normalized.event, item.value.traceContext));
    else invalid += 1;
  }
  const { malformed, oversize, truncated } = reader.problems;
  return { events, damaged: invalid + malformed + oversize + truncated };
}

function withTrace(event: LifecycleEvent, stated: unknown): SpooledEvent {
  if (typeof stated !== "object" || stated === null) return { event };
  const { traceId, spanId, traceFlags } = stated as Readonly<Record<string, unknown>>;
  if (typeof traceId !== "string" || typeof spanId !== "string") return { event };
  const spanContext: SpanContext = { traceId, spanId, traceFlags: traceFlags === 1 ? 1 : 0 };
  return isSpanContextValid(spanContext) ? { event, spanContext } : { event };
}
