export { type AskedSource, type Collector, type CollectorLog, type CollectorSeams, startCollector } from "./app.ts";
export type {
  AccessConfiguration,
  ApiConfiguration,
  CollectorConfiguration,
  Endpoint,
  ExportersConfiguration,
  HttpListenerConfiguration,
  JsonlFileConfiguration,
  JsonlStdinConfiguration,
  LimitsConfiguration,
  ListenerConfiguration,
  LogLevel,
  ModuleConfiguration,
  OtlpGrpcConfiguration,
  OtlpHttpConfiguration,
  OtlpReceiverConfiguration,
  ReceiversConfiguration,
  RetentionConfiguration,
  ServiceConfiguration,
  StorageConfiguration,
  TlsConfiguration,
  TokenConfiguration,
} from "./config/configuration.ts";
export { DEFAULT_CONFIGURATION } from "./config/defaults.ts";
export type { HermesReceiverConfiguration, HermesStdioConfiguration } from "./config/hermes-configuration.ts";
export type { LifecycleConfiguration, SourceConfiguration } from "./config/lifecycle-configuration.ts";
export type { Stated } from "./config/overlay.ts";
export { type ConfigurationPath, type ConfigurationProblem, describeProblem } from "./config/problem.ts";
export { planReload, type ReloadPlan } from "./config/reload.ts";
export { resolveConfiguration, type StatedConfiguration } from "./config/resolve.ts";
export type {
  AskedSourceConfiguration,
  HttpSnapshotSourceConfiguration,
  ModuleSnapshotSourceConfiguration,
  PushSnapshotSourceConfiguration,
  SnapshotSourcesConfiguration,
  SnapshotSourceTlsConfiguration,
} from "./config/snapshot-source-configuration.ts";
export { PluginError } from "./plugins/plugin-specification.ts";
export { AuthorityConflictError } from "./runtime/authorities.ts";
export type { Clock } from "./runtime/clock.ts";
export type { Component } from "./runtime/component.ts";
export { COMPONENT_API_VERSION, type ComponentContext, type ComponentLog } from "./runtime/component-context.ts";
export type {
  ExportBatch,
  ExportedInput,
  Exporter,
  ExporterContext,
  ExporterFactory,
  ExportOutcome,
} from "./runtime/exporter.ts";
export type { EventOutcome, EventsIntake, Intake, Origin, Refusal, SnapshotIntake } from "./runtime/intake.ts";
export type { ProjectionReader } from "./runtime/projection-reader.ts";
export type { Delivery, ReceiverContext, ReceiverFactory, ReceiverIntake } from "./runtime/receiver.ts";
export type { SnapshotSource, SnapshotSourceContext, SnapshotSourceFactory } from "./runtime/snapshot-source.ts";
export type { ProjectionUpdate, UpdateFeed, UpdateListener } from "./runtime/update-feed.ts";
export { StoreUnavailableError } from "./store/store.ts";
