export {
  checkFreshness,
  DEFAULT_FRESHNESS,
  type DueReconciliation,
  type FreshnessPolicy,
  Liveness,
} from "./liveness/liveness.ts";
export type { ChildFacts } from "./projection/child-facts.ts";
export {
  type ChildRecord,
  type History,
  isProvisional,
  type LateEvidence,
  type ReconciliationRequest,
  type Staleness,
  type StaleReason,
  type TerminalEvidence,
} from "./projection/child-record.ts";
export { viewOf } from "./projection/child-view.ts";
export { foldResumed } from "./projection/fold-freshness.ts";
export {
  type IdentityQuestion,
  identityKey,
  identityOf,
  identityQuestion,
  snapshotIdentityQuestion,
} from "./projection/identity.ts";
export { IdentityMemory } from "./projection/identity-memory.ts";
export {
  type AuditEntry,
  type ChildChange,
  type EventInput,
  type FoldResult,
  type IdentityAnswer,
  INPUT_STATUSES,
  type InputStatus,
  type LossCause,
  type ProjectionDiagnostic,
  type ProjectionInput,
  type ReconciliationInput,
  type ResumedInput,
  type SnapshotEpoch,
  type SnapshotInput,
  type SnapshotPolicy,
  type StaleInput,
} from "./projection/input.ts";
export {
  childOf,
  childrenOf,
  createProjection,
  fold,
  forgetChild,
  type Projection,
  restoreChild,
  restoreSnapshotEpoch,
  revert,
  type SourceRecord,
} from "./projection/projection.ts";
export {
  parseRecord,
  parseSnapshotEpoch,
  serializeProjection,
  serializeRecord,
  serializeSnapshotEpoch,
} from "./projection/record-codec.ts";
export { countChange, countDeparture, createSummary, type Summary } from "./projection/summary.ts";
export { AuthorityMemory, type AuthorityRecord } from "./reconciliation/authority-memory.ts";
export {
  ASKING_JITTER,
  type AskingPolicy,
  type AskingStatus,
  type AskReason,
  AuthoritySchedule,
  DEFAULT_ASKING_POLICY,
  type Question,
} from "./reconciliation/authority-schedule.ts";
export { type AuthorityStatement, statementOf } from "./reconciliation/authority-statement.ts";
export { type AuthorityAnswer, type ReconciliationOutcome, reconciliationOutcome } from "./reconciliation/outcome.ts";
