import { type Context, context, type SpanContext, trace } from "@opentelemetry/api";

/** The trace an event belongs to: the active one, else the one that the process was started in. */
export function traceOfNow(inherited: SpanContext | undefined): SpanContext | undefined {
  return trace.getSpanContext(context.active()) ?? inherited;
}

/** The context to emit in; `undefined` where the active one says it all. */
export function contextOfNow(inherited: SpanContext | undefined): Context | undefined {
  if (inherited === undefined) return undefined;
  const active = context.active();
  return trace.getSpanContext(active) === undefined ? trace.setSpanContext(active, inherited) : undefined;
}
