import type { ChildRecord } from "./child-record.ts";

/** When a piece of accepted evidence was seen by its source, and what time it counts for here (S1). */
export interface EvidenceTimes {
  readonly observedAt: number;
  readonly evidenceAt: number;
}

/**
 * S3: new evidence ends the silence, clears stale, withdraws an open request and a count of misses. Old evidence
 * (a backfill) never moves a time back.
 */
export function evidenceReceived(record: ChildRecord, times: EvidenceTimes, isProgress: boolean): ChildRecord {
  const { observedAt, evidenceAt } = times;
  return {
    ...record,
    firstObservedAt: Math.min(record.firstObservedAt, observedAt),
    epochFirstObservedAt: Math.min(record.epochFirstObservedAt, observedAt),
    lastObservedAt: Math.max(record.lastObservedAt, observedAt),
    lastEvidenceAt: Math.max(record.lastEvidenceAt, evidenceAt),
    lastProgressAt: isProgress ? Math.max(record.lastProgressAt, evidenceAt) : record.lastProgressAt,
    silentSince: Math.max(record.silentSince, evidenceAt),
    stale: undefined,
    reconciliation: undefined,
    misses: 0,
  };
}
