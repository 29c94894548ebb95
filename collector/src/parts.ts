// The parts that a collector is made of, for hosts that assemble their own and for tests. Unlike the main entry, nothing
// here is promised: any version may change it.
export { type CollectorMetrics, createMetrics } from "./api/metrics.ts";
export { UpdateStream } from "./api/update-stream.ts";
export {
  type ConfiguredExporter,
  type ConfiguredReceiver,
  exportersInUse,
  receiversInUse,
} from "./config/components.ts";
export { type LoadedConfiguration, type LoadOptions, loadConfiguration } from "./config/load.ts";
export { printableConfiguration } from "./config/print.ts";
export {
  formatDuration,
  formatEndpoint,
  formatSize,
  memoryLimitBytes,
  parseDuration,
  parseEndpoint,
  parseSize,
} from "./config/quantities.ts";
export { type ConfigurationSchema, readConfigurationSchema, type SchemaNode } from "./config/schema.ts";
export type { Mismatch } from "./conformance/mismatch.ts";
export { type ParsedVector, parseVector } from "./conformance/parse-vector.ts";
export { type ConformanceReport, formatReport, runDirectory, type VectorReport } from "./conformance/run-directory.ts";
export { runVector } from "./conformance/run-vector.ts";
export type {
  Expectation,
  ExpectedAudit,
  ExpectedRecord,
  Vector,
  VectorOptions,
  VectorStep,
} from "./conformance/vector.ts";
export { type Attention, attentionOf, urgencyOf, waitsForPerson } from "./display/attention.ts";
export {
  adoptedWords,
  cancelWords,
  capabilityWords,
  doingWords,
  durationWords,
  endWords,
  equationWords,
  isFound,
  lateWords,
  provisionalWords,
  searchText,
  staleWords,
} from "./display/child-words.ts";
export { authorityWords, connectionWords, evidenceWords, offerWords } from "./display/source-words.ts";
export { declaredFacts } from "./display/visibility-words.ts";
export { type ExaminationOptions, examine } from "./doctor/examine.ts";
export type { Finding, FindingLevel } from "./doctor/finding.ts";
export { askDestination } from "./exporters/ask-destination.ts";
export {
  HOOKED_AGENTS,
  type HookedAgent,
  UnusableSettings,
  withHooks,
  withoutHooks,
} from "./hooks/hook-settings.ts";
export { ByteBudget } from "./http/byte-budget.ts";
export type { HttpServer, HttpServerOptions } from "./http/http-server.ts";
export { bodyChunks } from "./http/request-body.ts";
export { configuredPlugins } from "./plugins/configured-plugins.ts";
export { type CreatedPlugins, createPlugins, cursorFolderOf, type PluginParts } from "./plugins/create-plugins.ts";
export { type GuardOptions, guardComponent } from "./plugins/guarded-component.ts";
export { type LoadedPlugin, type LoadPluginsOptions, loadPlugins } from "./plugins/load-plugins.ts";
export type { PluginKind, PluginProblem, PluginSpecification } from "./plugins/plugin-specification.ts";
export { type GatedIntake, gateIntake } from "./plugins/receiver-intake.ts";
export type { KnownChild } from "./receivers/hermes/child-roster.ts";
export type { FrameLink, LinkEnd, LinkListener, OpenLink } from "./receivers/hermes/frame-link.ts";
export { HERMES_DEFAULTS, type HermesOptions, type HermesTransport } from "./receivers/hermes/hermes-options.ts";
export { createHermesReceiver, type HermesParts, type HermesReceiver } from "./receivers/hermes/hermes-receiver.ts";
export type { HermesStatus } from "./receivers/hermes/hermes-status.ts";
export type { WatermarkMemory, WatermarkRecord } from "./receivers/hermes/replay-watermarks.ts";
export { createWatermarkFile } from "./receivers/hermes/watermark-file.ts";
export { createJsonlFileReceiver, type JsonlFileReceiver } from "./receivers/jsonl-file.ts";
export { createJsonlStreamReceiver, type JsonlStreamReceiver } from "./receivers/jsonl-stream.ts";
export { createOtlpGrpcReceiver, type OtlpGrpcOptions, type OtlpGrpcReceiver } from "./receivers/otlp-grpc.ts";
export type { AdminActions, AdminResult } from "./runtime/admin-actions.ts";
export { AdminAudit } from "./runtime/admin-audit.ts";
export type { Admission } from "./runtime/admission.ts";
export { type AdmissionRefusalReason, createAdmissionControl } from "./runtime/admission-control.ts";
export { AskedAuthority, type AskedAuthorityOptions } from "./runtime/asked-authority.ts";
export { Authorities, type SnapshotAuthorities } from "./runtime/authorities.ts";
export type { AskingOutcome, Authority, AuthorityIdentity } from "./runtime/authority.ts";
export { createCursorFiles } from "./runtime/cursor-files.ts";
export { Door } from "./runtime/door.ts";
export type { ExportCursors } from "./runtime/export-cursors.ts";
export type { ExportLog } from "./runtime/export-log.ts";
export { ExportLoop, type ExportLoopOptions } from "./runtime/export-loop.ts";
export type { ExportTelemetry } from "./runtime/export-telemetry.ts";
export { createFilePositions, type FilePositions } from "./runtime/file-positions.ts";
export { LivenessLoop, type LivenessLoopOptions } from "./runtime/liveness-loop.ts";
export { advanceLog, type LogAdvance } from "./runtime/log-advance.ts";
export type { CancelOutcome, ObservedSource } from "./runtime/observed-source.ts";
export { type Pressure, ProcessPressure, type ProcessPressureOptions } from "./runtime/process-pressure.ts";
export { ProjectionState } from "./runtime/projection-state.ts";
export { PushAuthority, type PushAuthorityOptions } from "./runtime/push-authority.ts";
export { RateLimit } from "./runtime/rate-limit.ts";
export { Retention, type RetentionLimits } from "./runtime/retention.ts";
export type { Schedule } from "./runtime/schedule.ts";
export { type ShutdownOutcome, type Stoppable, shutDownWithin } from "./runtime/shutdown-deadline.ts";
export { createUpdateFeed, type UpdatePublisher } from "./runtime/update-feed.ts";
export { type ProjectionDifference, type Verification, verifyStore } from "./runtime/verification.ts";
export { Writer } from "./runtime/writer.ts";
export { type AccessControl, OPEN_ACCESS, type Principal, type Scope } from "./security/access-control.ts";
export type { CertificateSource, TlsMaterial } from "./security/certificates.ts";
export { type ClientCertificate, clientCertificateOf } from "./security/client-certificate.ts";
export {
  createFileCertificates,
  type FileCertificateOptions,
  type FileCertificates,
} from "./security/file-certificates.ts";
export { type GrantProblem, grantProblems } from "./security/grant-problems.ts";
export { SecretFileError } from "./security/secret-file.ts";
export { CertificateError, certificateSubject } from "./security/tls-material.ts";
export {
  type AccessGrants,
  type CertificateGrant,
  createAccessControl,
  type TokenAccessControl,
} from "./security/token-access.ts";
export { loadTokens, readTokenFile } from "./security/token-file.ts";
export { createApiServer } from "./server/api-server.ts";
export { createIngestServer } from "./server/ingest-server.ts";
export {
  createHttpSnapshotSource,
  type HttpSnapshotSourceOptions,
} from "./snapshot-sources/http-snapshot-source.ts";
export type { AdminAction, AdminActionStore, StoredAdminAction } from "./store/admin-actions.ts";
export { createSqliteAdminActions } from "./store/sqlite/admin-actions.ts";
export type { SqliteStoreOptions } from "./store/sqlite/open-database.ts";
export { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
export type {
  AppendedInput,
  Checkpoint,
  ChildrenQuery,
  LoadedCheckpoint,
  Store,
  StoredAudit,
  StoredChild,
  StoredDiagnostic,
  StoredInput,
  StoredResumption,
  StoreReader,
} from "./store/store.ts";
export type { MetricDefinition } from "./telemetry/metric-definition.ts";
export { type AttributeDefinition, RECORD_ATTRIBUTES, SPAN_NAMES } from "./telemetry/record-attributes.ts";
export { METRIC_DEFINITIONS } from "./telemetry/registry.ts";
export { rootSpanIdOf, traceIdOf } from "./telemetry/trace-identity.ts";
