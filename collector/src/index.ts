export type { Mismatch } from "./conformance/mismatch.ts";
export { type ParsedVector, parseVector } from "./conformance/parse-vector.ts";
export { type ConformanceReport, formatReport, runDirectory, type VectorReport } from "./conformance/run-directory.ts";
export { runVector } from "./conformance/run-vector.ts";
export type {
  ExpectedAudit,
  ExpectedRecord,
  Expectation,
  Vector,
  VectorOptions,
  VectorStep,
} from "./conformance/vector.ts";
