export { canonicalEvent, canonicalJson } from "./canonical.ts";
export {
  CAPABILITY_NAMES,
  type Capabilities,
  type CapabilityKnowledge,
  type CapabilityName,
  capabilitiesFrom,
  knownCapabilities,
  mergeCapabilities,
  NO_CAPABILITIES,
} from "./capabilities.ts";
export { type Details, type SanitizedDetails, sanitizeDetails } from "./details.ts";
export { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from "./diagnostic.ts";
export {
  type CreatedEvent,
  EVENT_KINDS,
  type EventKind,
  type LifecycleEvent,
  type LifecycleEventInput,
  type Lineage,
  SCHEMA_VERSION,
  type StateChangedEvent,
  type StatelessEvent,
  type TerminalEvent,
} from "./event.ts";
export { validEvent, validSnapshot, validVisibilityContract } from "./generated/validators.ts";
export { defineMember, isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
export {
  createJsonlReader,
  type JsonlItem,
  type JsonlProblem,
  type JsonlProblemCode,
  type JsonlReader,
  type JsonlReaderOptions,
  type JsonlRecord,
} from "./jsonl.ts";
export {
  DEFAULT_MAX_LINE_BYTES,
  MAX_ACTIVITY_LENGTH,
  MAX_DETAIL_TEXT_LENGTH,
  MAX_DETAILS_BYTES,
  MAX_DETAILS_DEPTH,
  MAX_EXCERPT_LENGTH,
  MAX_IDENTIFIER_LENGTH,
  MAX_JSONL_DIAGNOSTICS,
  MAX_SNAPSHOT_CHILDREN,
} from "./limits.ts";
export { type NormalizedEvent, normalizeEvent } from "./normalize.ts";
export { type NormalizedSnapshot, normalizeSnapshot } from "./normalize-snapshot.ts";
export {
  ATTRIBUTES,
  type AttributeValue,
  attributesOf,
  CAPABILITY_ATTRIBUTES,
  EVENT_NAME_PREFIX,
  eventName,
  SCOPE_NAME,
} from "./otlp-attributes.ts";
export {
  type DecodedLogs,
  type DecodedRecord,
  MAX_RECORDS,
  MAX_VALUE_DEPTH,
  type ToleratedAttributes,
} from "./otlp-candidate.ts";
export { decodeLogsJson } from "./otlp-decode-json.ts";
export { decodeLogsProtobuf } from "./otlp-decode-protobuf.ts";
export { encodeLogsJson } from "./otlp-encode-json.ts";
export { encodeLogsProtobuf } from "./otlp-encode-protobuf.ts";
export { bodyOf, type Severity, severityOf } from "./otlp-presentation.ts";
export type { LogsToEncode, RecordToEncode } from "./otlp-record.ts";
export {
  decodeExportResponseJson,
  decodeExportResponseProtobuf,
  type ExportOutcome,
  encodeExportResponseJson,
  encodeExportResponseProtobuf,
  FULL_SUCCESS,
} from "./otlp-response.ts";
export {
  type DecodedStatus,
  decodeStatusJson,
  decodeStatusProtobuf,
  encodeStatusJson,
  encodeStatusProtobuf,
  type FieldViolation,
  RPC_CODES,
  type RpcStatus,
} from "./otlp-status.ts";
export { parseCanonicalEvent } from "./parse-canonical.ts";
export { REDACTED, redactIdentifier, redactText } from "./redact.ts";
export {
  type ReservedDetails,
  type Usage,
  WAITING_KINDS,
  type WaitingKind,
  type WaitingOn,
} from "./reserved-details.ts";
export { isSecretMember } from "./secret-names.ts";
export type { LifecycleSnapshot, SnapshotEntry } from "./snapshot.ts";
export {
  intermediateSteps,
  isLegalEdge,
  isState,
  isTerminal,
  STATES,
  type State,
  successorsOf,
  TERMINAL_STATES,
  type TerminalState,
} from "./state.ts";
export { codePointLength, cutText, utf8Length } from "./text.ts";
export { formatTimestamp, isRepresentable, parseTimestamp } from "./timestamp.ts";
export { firstProblem, type ValidationError, type Validator } from "./validator.ts";
export {
  type AdapterView,
  type AuditPage,
  type AuditView,
  type AuthorityView,
  type ChildrenPage,
  type ChildView,
  type DiagnosticsPage,
  type DiagnosticView,
  type InputsPage,
  type InputView,
  type SourcesView,
  type SourceView,
  SUPPORT_LEVELS,
  type SummaryView,
  type SupportLevel,
  VISIBILITY_UNAVAILABLE,
  type VisibilityMismatchView,
  type VisibilityView,
} from "./views.ts";
export {
  type NormalizedVisibilityContract,
  normalizeVisibilityContract,
  type VisibilityCapability,
  type VisibilityContract,
} from "./visibility-contract.ts";
