import type { ReceivedRequest } from "./http-destination.ts";

/** What tests read of OTLP in JSON. */
interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface ReceivedRecord {
  readonly body: string;
  readonly eventName: string;
  readonly timeUnixNano: string;
  readonly severityNumber: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly spanId: string; readonly attributes: Readonly<Record<string, unknown>> }[];
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked at member by member
type Json = any;

function bodyOf({ body }: ReceivedRequest): Json {
  return JSON.parse(body.toString());
}

export function recordsOf(request: ReceivedRequest): readonly ReceivedRecord[] {
  const records = bodyOf(request).resourceLogs.flatMap((one: Json) =>
    one.scopeLogs.flatMap((scope: Json) => scope.logRecords),
  );
  return records.map((record: Json) => ({
    ...record,
    body: record.body.stringValue,
    timeUnixNano: String(record.timeUnixNano),
    attributes: valuesOf(record.attributes),
  }));
}

export function spansOf(request: ReceivedRequest): readonly ReceivedSpan[] {
  const spans = bodyOf(request).resourceSpans.flatMap((one: Json) =>
    one.scopeSpans.flatMap((scope: Json) => scope.spans),
  );
  return spans.map((span: Json) => ({
    ...span,
    startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
    endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
    attributes: valuesOf(span.attributes),
    links: (span.links ?? []).map((link: Json) => ({ ...link, attributes: valuesOf(link.attributes) })),
  }));
}

export function resourceOf(request: ReceivedRequest, signal: "Logs" | "Spans" | "Metrics"): Record<string, unknown> {
  return valuesOf(bodyOf(request)[`resource${signal}`][0].resource.attributes);
}

export function metricsOf(request: ReceivedRequest): readonly Json[] {
  return bodyOf(request).resourceMetrics.flatMap((one: Json) =>
    one.scopeMetrics.flatMap((scope: Json) => scope.metrics),
  );
}

export function valuesOf(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[kind, held] = ["", undefined]] = Object.entries(value);
      return [key, kind === "intValue" ? Number(held) : held];
    }),
  );
}
