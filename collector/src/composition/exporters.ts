import { hostname } from "node:os";
import { basename, join, resolve } from "node:path";
import type { CollectorMetrics } from "../api/metrics.ts";
import { type ConfiguredExporter, exportersInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import type { ExportedSignal } from "../config/exporter-configuration.ts";
import type { ChildUpdate } from "../exporters/child-update.ts";
import { createHttpSender } from "../exporters/http-sender.ts";
import { createJsonlExporter } from "../exporters/jsonl-exporter.ts";
import { spansOf } from "../exporters/lifecycle-spans.ts";
import { createMetricsPush } from "../exporters/metrics-push.ts";
import { createOtlpSender, type OtlpExporter, tlsMaterialOf } from "../exporters/otlp-destination.ts";
import { createOtlpEncoder, type OtlpEncoder } from "../exporters/otlp-encoding.ts";
import { projectionRecordOf } from "../exporters/projection-record.ts";
import type { RequestSender } from "../exporters/send-outcome.ts";
import { createAsideFile } from "../exporters/set-aside.ts";
import { Timelines } from "../exporters/timelines.ts";
import { createUpdateExporter } from "../exporters/update-exporter.ts";
import {
  CLOUD_EVENTS_CONTENT_TYPE,
  type CloudEvent,
  cloudEventOf,
  occasionOf,
  signatureHeaders,
} from "../exporters/webhook.ts";
import { cursorFolderOf } from "../plugins/create-plugins.ts";
import type { ChildHistory } from "../runtime/child-history.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ComponentLog } from "../runtime/component-context.ts";
import { createCursorFiles } from "../runtime/cursor-files.ts";
import { ExportLoop } from "../runtime/export-loop.ts";
import type { Exporter } from "../runtime/exporter.ts";
import { scheduleUnreferenced } from "../runtime/schedule.ts";
import type { Store } from "../store/store.ts";
import { recordUidOf } from "../telemetry/trace-identity.ts";
import { type CollectorLog, describe } from "./collector-log.ts";
import type { Pipeline } from "./pipeline.ts";
import type { NamedPart } from "./running-parts.ts";

export interface ExporterParts {
  readonly configuration: CollectorConfiguration;
  readonly pipeline: Pipeline;
  readonly store: Store;
  readonly metrics: CollectorMetrics;
  readonly clock: Clock;
  readonly log: CollectorLog;
}

/** The exporters that come with the collector. @throws the system's error for a file of TLS that cannot be read. */
export function composeExporters(parts: ExporterParts): readonly NamedPart[] {
  return exportersInUse(parts.configuration).flatMap((exporter) => partsOf(exporter, parts));
}

function partsOf(exporter: ConfiguredExporter, parts: ExporterParts): readonly NamedPart[] {
  switch (exporter.type) {
    case "otlp_http":
    case "otlp_grpc":
      return exporter.settings.signals.map((signal) => otlpPart(exporter, signal, parts));
    case "jsonl":
      return [jsonlPart(exporter, parts)];
    case "webhook":
      return [webhookPart(exporter, parts)];
    case "module":
      return [];
  }
}

/** Each signal goes its own way: one that a destination refuses delays no other. */
function otlpPart(exporter: OtlpExporter, signal: ExportedSignal, parts: ExporterParts): NamedPart {
  const { settings } = exporter;
  const name = `${exporter.id}:${signal}`;
  const encoder = createOtlpEncoder({
    encoding: exporter.type === "otlp_http" ? exporter.settings.encoding : "proto",
    resourceAttributes: resourceOf(settings.resourceAttributes, parts.configuration),
  });
  const sender = createOtlpSender(exporter, signal, () => parts.clock.wallNow());
  if (signal === "metrics") return metricsPart(name, settings.metricsIntervalMs, encoder, sender, parts);
  const shared = { id: name, sender, takesEmptyRequests: true, ...deliveryParts(name, parts) };
  const built: Exporter =
    signal === "logs"
      ? createUpdateExporter({
          ...shared,
          itemsOf: (update) => (isWanted(update, settings.activities) ? [projectionRecordOf(update)] : []),
          encode: encoder.logs,
        })
      : createUpdateExporter({ ...shared, itemsOf: spansOf, encode: encoder.traces });
  return loopPart(name, built, settings, parts);
}

function metricsPart(
  name: string,
  intervalMs: number,
  encoder: OtlpEncoder,
  sender: RequestSender,
  { configuration, pipeline, metrics, clock, log }: ExporterParts,
): NamedPart {
  const component = createMetricsPush({
    id: name,
    read: () => metrics.samples(pipeline.reader, pipeline.authorities.all),
    encoder,
    sender,
    intervalMs,
    now: () => clock.wallNow(),
    telemetry: metrics.exportTelemetry,
    log: logOf(name, log),
    schedule: scheduleUnreferenced,
    shutdownGraceMs: configuration.service.shutdownTimeoutMs / 6,
  });
  return { name, component };
}

function jsonlPart(
  { id, settings }: Extract<ConfiguredExporter, { readonly type: "jsonl" }>,
  parts: ExporterParts,
): NamedPart {
  const exporter = createJsonlExporter({
    id,
    ...settings,
    isWanted: (update) => isWanted(update, settings.activities),
    timelines: new Timelines(historyOf(parts)),
    telemetry: parts.metrics.exportTelemetry,
  });
  return loopPart(id, exporter, {}, parts);
}

function webhookPart(
  { id, settings }: Extract<ConfiguredExporter, { readonly type: "webhook" }>,
  parts: ExporterParts,
): NamedPart {
  const { url, secret, occasions, headers, tls, timeoutMs } = settings;
  const now = (): number => parts.clock.wallNow();
  const wanted: ReadonlySet<string> = new Set(occasions);
  const sender = createHttpSender({
    url: new URL(url),
    contentType: CLOUD_EVENTS_CONTENT_TYPE,
    headers,
    compression: "none",
    tls: tlsMaterialOf(tls),
    timeoutMs,
    now,
    sign: (body) => signatureHeaders(idOf(body), body, secret, now()),
  });
  const exporter = createUpdateExporter<CloudEvent>({
    id,
    sender,
    maxPerRequest: 1,
    takesEmptyRequests: false,
    itemsOf: (update) => {
      const occasion = occasionOf(update);
      return occasion !== undefined && wanted.has(occasion) ? [cloudEventOf(update, occasion)] : [];
    },
    encode: ([event]) => Buffer.from(JSON.stringify(event)),
    ...deliveryParts(id, parts),
  });
  return loopPart(id, exporter, settings, parts);
}

function idOf(body: Uint8Array): string {
  const { id } = JSON.parse(Buffer.from(body).toString()) as CloudEvent;
  return id;
}

function deliveryParts(
  id: string,
  parts: ExporterParts,
): Pick<Parameters<typeof createUpdateExporter>[0], "timelines" | "aside" | "telemetry" | "log"> {
  const { configuration, metrics, clock } = parts;
  const log = logOf(id, parts.log);
  const folder = cursorFolderOf(configuration.storage.path);
  const path = join(folder, `${encodeURIComponent(id)}.refused.jsonl`);
  const onError = (error: unknown): void => log.error({ error: describe(error) }, "refused records cannot be listed");
  return {
    timelines: new Timelines(historyOf(parts)),
    aside: createAsideFile(path, () => clock.wallNow(), onError),
    telemetry: metrics.exportTelemetry,
    log,
  };
}

function loopPart(
  name: string,
  exporter: Exporter,
  { initialBackoffMs, maxBackoffMs }: { readonly initialBackoffMs?: number; readonly maxBackoffMs?: number },
  { configuration, pipeline, store, metrics, log }: ExporterParts,
): NamedPart {
  metrics.exportTelemetry.countMissed(name, 0);
  const component = new ExportLoop({
    id: name,
    exporter,
    exportLog: store,
    updates: pipeline.updates,
    cursors: createCursorFiles(cursorFolderOf(configuration.storage.path)),
    log: logOf(name, log),
    telemetry: metrics.exportTelemetry,
    shutdownGraceMs: configuration.service.shutdownTimeoutMs / 6,
    ...(initialBackoffMs === undefined ? undefined : { minBackoffMs: initialBackoffMs }),
    ...(maxBackoffMs === undefined ? undefined : { maxBackoffMs }),
  });
  return { name, component };
}

function historyOf({ store, pipeline }: ExporterParts): ChildHistory {
  const keyOf = (source: string, childId: string): number | undefined => pipeline.state.child(source, childId)?.key;
  return {
    base: (source, childId) => store.baseChild(source, childId)?.record,
    inputs: (source, childId, afterInputId, limit) => {
      const key = keyOf(source, childId);
      return key === undefined ? [] : pipeline.reader.inputsOfChild(key, afterInputId, limit);
    },
    audit: (source, childId, afterInputId, limit) => {
      const childKey = keyOf(source, childId);
      return childKey === undefined ? [] : store.audit({ childKey, afterInputId, limit });
    },
    input: (inputId) => {
      for (const stored of store.inputs(inputId - 1)) return stored.inputId === inputId ? stored : undefined;
      return undefined;
    },
  };
}

function isWanted({ what }: ChildUpdate, activities: boolean): boolean {
  return activities || what.kind !== "activity";
}

/** A name for this collector that a restart keeps: a new one for each start would be a new stream and a new series. */
function resourceOf(
  stated: ReadonlyMap<string, string>,
  { storage }: CollectorConfiguration,
): Readonly<Record<string, string>> {
  const instance = recordUidOf(hostname(), resolve(storage.path)).slice(0, 16);
  return {
    "service.name": "agent-lifecycle-collector",
    "service.instance.id": `${basename(hostname())}-${instance}`,
    ...Object.fromEntries(stated),
  };
}

function logOf(component: string, log: CollectorLog): ComponentLog {
  return {
    info: (members, message) => log.info({ ...members, component }, message),
    error: (members, message) => log.error({ ...members, component }, message),
  };
}
