export { type CollectorMetrics, createMetrics } from "./api/metrics.ts";
export { type Collector, type CollectorLog, type CollectorSeams, startCollector } from "./app.ts";
export {
  type CollectorConfiguration,
  type ConfigurationProblem,
  DEFAULT_CONFIGURATION,
  type Listener,
  resolveConfiguration,
  type SourceConfiguration,
} from "./config/configuration.ts";
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
export type { HttpServer, HttpServerOptions } from "./http/http-server.ts";
export { createJsonlFileReceiver, type JsonlFileReceiver } from "./receivers/jsonl-file.ts";
export { createJsonlStreamReceiver, type JsonlStreamReceiver } from "./receivers/jsonl-stream.ts";
export type { Clock } from "./runtime/clock.ts";
export type { Component } from "./runtime/component.ts";
export type { EventOutcome, EventsIntake, Intake, Origin, Refusal, SnapshotIntake } from "./runtime/intake.ts";
export { LivenessLoop, type LivenessLoopOptions, type Schedule } from "./runtime/liveness-loop.ts";
export type { ProjectionReader } from "./runtime/projection-reader.ts";
export {
  createUpdateFeed,
  type ProjectionUpdate,
  type UpdateFeed,
  type UpdateListener,
  type UpdatePublisher,
} from "./runtime/update-feed.ts";
export { type ProjectionDifference, type Verification, verifyStore } from "./runtime/verification.ts";
export { createApiServer } from "./server/api-server.ts";
export { createIngestServer } from "./server/ingest-server.ts";
export type { SqliteStoreOptions } from "./store/sqlite/open-database.ts";
export { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
export {
  type AppendedInput,
  type Checkpoint,
  type ChildrenQuery,
  type LoadedCheckpoint,
  type Store,
  type StoredAudit,
  type StoredChild,
  type StoredDiagnostic,
  type StoredInput,
  type StoredResumption,
  type StoreReader,
  StoreUnavailableError,
} from "./store/store.ts";
