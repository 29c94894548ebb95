import type {
  CollectorConfiguration,
  ExportersConfiguration,
  JsonlFileConfiguration,
  JsonlStdinConfiguration,
  ModuleConfiguration,
  OtlpReceiverConfiguration,
  ReceiversConfiguration,
} from "./configuration.ts";
import type {
  JsonlExporterConfiguration,
  OtlpGrpcExporterConfiguration,
  OtlpHttpExporterConfiguration,
  WebhookExporterConfiguration,
} from "./exporter-configuration.ts";
import type { HermesReceiverConfiguration } from "./hermes-configuration.ts";
import type {
  HttpSnapshotSourceConfiguration,
  ModuleSnapshotSourceConfiguration,
  PushSnapshotSourceConfiguration,
  SnapshotSourcesConfiguration,
} from "./snapshot-source-configuration.ts";

/** A receiver under its id, with its settings. */
export type ConfiguredReceiver =
  | { readonly type: "otlp"; readonly id: string; readonly settings: OtlpReceiverConfiguration }
  | { readonly type: "jsonl_file"; readonly id: string; readonly settings: JsonlFileConfiguration }
  | { readonly type: "jsonl_stdin"; readonly id: string; readonly settings: JsonlStdinConfiguration }
  | ConfiguredHermes
  | { readonly type: "module"; readonly id: string; readonly settings: ModuleConfiguration };

/** A receiver of the type `hermes`. */
export interface ConfiguredHermes {
  readonly type: "hermes";
  readonly id: string;
  readonly settings: HermesReceiverConfiguration;
}

/** An exporter under its id, with its settings. */
export type ConfiguredExporter =
  | { readonly type: "otlp_http"; readonly id: string; readonly settings: OtlpHttpExporterConfiguration }
  | { readonly type: "otlp_grpc"; readonly id: string; readonly settings: OtlpGrpcExporterConfiguration }
  | { readonly type: "jsonl"; readonly id: string; readonly settings: JsonlExporterConfiguration }
  | { readonly type: "webhook"; readonly id: string; readonly settings: WebhookExporterConfiguration }
  | ConfiguredModule;

/** A component of the type `module`. */
export interface ConfiguredModule {
  readonly type: "module";
  readonly id: string;
  readonly settings: ModuleConfiguration;
}

/** A snapshot source under its id, with its settings. */
export type ConfiguredSnapshotSource =
  | { readonly type: "http"; readonly id: string; readonly settings: HttpSnapshotSourceConfiguration }
  | { readonly type: "push"; readonly id: string; readonly settings: PushSnapshotSourceConfiguration }
  | { readonly type: "module"; readonly id: string; readonly settings: ModuleSnapshotSourceConfiguration };

/** The types of exporters. */
export const EXPORTER_TYPES = ["otlp_http", "otlp_grpc", "jsonl", "webhook", "module"] as const;

/** The receivers that are to run, in the order of `service.receivers`. */
export function receiversInUse({
  receivers,
  service,
}: Pick<CollectorConfiguration, "receivers"> & {
  readonly service: Pick<CollectorConfiguration["service"], "receivers">;
}): readonly ConfiguredReceiver[] {
  return service.receivers.flatMap((id) => receiverOf(receivers, id) ?? []);
}

/** The exporters that are to run, in the order of `service.exporters`. */
export function exportersInUse({
  exporters,
  service,
}: Pick<CollectorConfiguration, "exporters"> & {
  readonly service: Pick<CollectorConfiguration["service"], "exporters">;
}): readonly ConfiguredExporter[] {
  return service.exporters.flatMap((id) => exporterOf(exporters, id) ?? []);
}

/** The snapshot sources that are to run, in the order of `service.snapshotSources`. */
export function snapshotSourcesInUse({
  snapshotSources,
  service,
}: CollectorConfiguration): readonly ConfiguredSnapshotSource[] {
  return service.snapshotSources.flatMap((id) => snapshotSourceOf(snapshotSources, id) ?? []);
}

/** The type that an id names: all before its first slash. */
export function typeOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}

function receiverOf(receivers: ReceiversConfiguration, id: string): ConfiguredReceiver | undefined {
  if (!Object.hasOwn(receivers, id)) return undefined;
  if (id === "otlp") return receivers.otlp && { type: "otlp", id, settings: receivers.otlp };
  if (id === "jsonl_stdin")
    return receivers.jsonl_stdin && { type: "jsonl_stdin", id, settings: receivers.jsonl_stdin };
  if (isModule(id)) return definedModule(id, receivers[id]);
  if (isHermes(id)) return definedHermes(id, receivers[id]);
  const file = id === "jsonl_file" || isJsonlFile(id) ? receivers[id] : undefined;
  return file && { type: "jsonl_file", id, settings: file };
}

function exporterOf(exporters: ExportersConfiguration, id: string): ConfiguredExporter | undefined {
  const type = EXPORTER_TYPES.find((known) => known === typeOf(id));
  if (type === undefined || !Object.hasOwn(exporters, id)) return undefined;
  const settings: unknown = new Map<string, unknown>(Object.entries(exporters)).get(id);
  // An id's type says what its settings are.
  return settings === undefined ? undefined : ({ type, id, settings } as ConfiguredExporter);
}

function snapshotSourceOf(sources: SnapshotSourcesConfiguration, id: string): ConfiguredSnapshotSource | undefined {
  const type = typeOf(id);
  if (!Object.hasOwn(sources, id) || (type !== "http" && type !== "push" && type !== "module")) return undefined;
  const settings = sources[id as keyof SnapshotSourcesConfiguration];
  // The settings of an id are those of its type.
  return settings && ({ type, id, settings } as ConfiguredSnapshotSource);
}

function definedModule(id: string, settings: ModuleConfiguration | undefined): ConfiguredModule | undefined {
  return settings && { type: "module", id, settings };
}

function definedHermes(id: string, settings: HermesReceiverConfiguration | undefined): ConfiguredHermes | undefined {
  return settings && { type: "hermes", id, settings };
}

function isHermes(id: string): id is "hermes" | `hermes/${string}` {
  return typeOf(id) === "hermes";
}

function isModule(id: string): id is "module" | `module/${string}` {
  return id === "module" || id.startsWith("module/");
}

function isJsonlFile(id: string): id is `jsonl_file/${string}` {
  return id.startsWith("jsonl_file/");
}
