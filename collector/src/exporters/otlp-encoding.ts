import { type HrTime, SpanKind, SpanStatusCode, TraceFlags, ValueType } from "@opentelemetry/api";
import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import { AggregationTemporality, DataPointType, type MetricData } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { MetricSample, MetricSamples } from "../runtime/metric-samples.ts";
import { EXPORT_SCOPE_NAME, PROJECTION_EVENT_NAME } from "../telemetry/record-attributes.ts";
import { METRIC_DEFINITIONS } from "../telemetry/registry.ts";
import type { LifecycleSpan } from "./lifecycle-spans.ts";
import type { ProjectionRecord } from "./projection-record.ts";

export type OtlpEncoding = "proto" | "json";

/** Puts records into requests of OTLP. The encoders are OpenTelemetry's own: what they cannot say is not said here. */
export interface OtlpEncoder {
  logs(records: readonly ProjectionRecord[]): Uint8Array;
  traces(spans: readonly LifecycleSpan[]): Uint8Array;
  /** @param startedAt when the counters began at 0. Milliseconds since the epoch, as `at`. */
  metrics(samples: MetricSamples, startedAt: number, at: number): Uint8Array;
}

export interface EncoderOptions {
  readonly encoding: OtlpEncoding;
  readonly resourceAttributes: Readonly<Record<string, string>>;
}

export function createOtlpEncoder({ encoding, resourceAttributes }: EncoderOptions): OtlpEncoder {
  const resource = resourceFromAttributes(resourceAttributes);
  // Records are grouped by the identity of these two objects.
  const scope = { name: EXPORT_SCOPE_NAME };
  const isJson = encoding === "json";
  const logs = isJson ? JsonLogsSerializer : ProtobufLogsSerializer;
  const traces = isJson ? JsonTraceSerializer : ProtobufTraceSerializer;
  const metrics = isJson ? JsonMetricsSerializer : ProtobufMetricsSerializer;
  return {
    logs: (records) => bytes(logs.serializeRequest(records.map((record) => readableRecord(record, resource, scope)))),
    traces: (spans) => bytes(traces.serializeRequest(spans.map((span) => readableSpan(span, resource, scope)))),
    metrics: (samples, startedAt, at) => {
      const times = { startTime: timeOf(startedAt), endTime: timeOf(at) };
      const data = samples.metrics.flatMap((sample) => metricData(sample, times));
      return bytes(metrics.serializeRequest({ resource, scopeMetrics: [{ scope, metrics: data }] }));
    },
  };
}

function bytes(encoded: Uint8Array | undefined): Uint8Array {
  if (encoded === undefined) throw new Error("OpenTelemetry's encoder made nothing of the records");
  return encoded;
}

type Scope = ReadableLogRecord["instrumentationScope"];

function readableRecord(record: ProjectionRecord, resource: Resource, instrumentationScope: Scope): ReadableLogRecord {
  const time = timeOf(record.at, record.atNanos);
  return {
    hrTime: time,
    hrTimeObserved: time,
    spanContext: { traceId: record.traceId, spanId: record.spanId, traceFlags: TraceFlags.SAMPLED },
    severityNumber: record.severity.number,
    severityText: record.severity.text,
    body: record.body,
    eventName: PROJECTION_EVENT_NAME,
    resource,
    instrumentationScope,
    attributes: record.attributes,
    droppedAttributesCount: 0,
  };
}

const STATUS_CODES = { unset: SpanStatusCode.UNSET, ok: SpanStatusCode.OK, error: SpanStatusCode.ERROR } as const;

function readableSpan(span: LifecycleSpan, resource: Resource, instrumentationScope: Scope): ReadableSpan {
  const contextOf = (traceId: string, spanId: string) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
  const { message } = span.status;
  return {
    name: span.name,
    kind: SpanKind.INTERNAL,
    spanContext: () => contextOf(span.traceId, span.spanId),
    ...(span.parentSpanId === undefined
      ? undefined
      : { parentSpanContext: contextOf(span.traceId, span.parentSpanId) }),
    startTime: timeOf(span.startedAt),
    endTime: timeOf(span.endedAt),
    duration: timeOf(span.endedAt - span.startedAt),
    status: { code: STATUS_CODES[span.status.code], ...(message === undefined ? undefined : { message }) },
    attributes: span.attributes,
    links: span.links.map(({ traceId, spanId, attributes }) => ({ context: contextOf(traceId, spanId), attributes })),
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const UNITS: ReadonlyMap<string, string> = new Map(METRIC_DEFINITIONS.map(({ name, unit }) => [name, unit]));

function metricData(
  sample: MetricSample,
  times: { readonly startTime: HrTime; readonly endTime: HrTime },
): readonly MetricData[] {
  if (sample.points.length === 0) return [];
  const { name, description } = sample;
  const descriptor = { name, description, unit: UNITS.get(name) ?? "", valueType: ValueType.DOUBLE };
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  if (sample.type === "histogram") {
    const dataPoints = sample.points.map(({ labels, count, sum, bounds, counts }) => ({
      ...times,
      attributes: labels,
      value: { count, sum, buckets: { boundaries: [...bounds], counts: [...counts] } },
    }));
    return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
  }
  const dataPoints = sample.points.map(({ labels, value }) => ({ ...times, attributes: labels, value }));
  if (sample.type === "gauge") return [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints }];
  return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
}

function timeOf(ms: number, nanos = 0): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, (ms - seconds * 1_000) * 1_000_000 + nanos];
}
