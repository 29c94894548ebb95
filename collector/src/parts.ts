// The parts that a collector is made of, for hosts that assemble their own and for tests. Unlike the main entry, nothing
// here is promised: any version may change it.
export { type CollectorMetrics, createMetrics } from "./api/metrics.ts";
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
export type { Admission } from "./runtime/admission.ts";
export { type AdmissionRefusalReason, createAdmissionControl } from "./runtime/admission-control.ts";
export type { Component } from "./runtime/component.ts";
export { LivenessLoop, type LivenessLoopOptions } from "./runtime/liveness-loop.ts";
export { type Pressure, ProcessPressure, type ProcessPressureOptions } from "./runtime/process-pressure.ts";
export { RateLimit } from "./runtime/rate-limit.ts";
export type { Schedule } from "./runtime/schedule.ts";
export { createUpdateFeed, type UpdatePublisher } from "./runtime/update-feed.ts";
export { type ProjectionDifference, type Verification, verifyStore } from "./runtime/verification.ts";
export { createApiServer } from "./server/api-server.ts";
export { createIngestServer } from "./server/ingest-server.ts";
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
