import type { ChildRecord } from "./child-record.ts";

/** When a piece of accepted evidence was seen by its source, and what time it counts for here (S1). */
export interface EvidenceTimes {
  readonly observedAt: number;
  readonly evidenceAt: number;
  /** Not from a backfill. */
  readonly isLive: boolean;
}

/**
 * S3: new evidence ends the silence, clears stale, withdraws an open request and a count of misses. Old evidence
 * (a backfill) never moves a time back, and what is no newer than the silence does not end it: the same silence would
 * be found a second time (S2).
 */
export function evidenceReceived(record: ChildRecord, times: EvidenceTimes, isProgress: boolean): ChildRecord {
  const { observedAt, evidenceAt, isLive } = times;
  const endsSilence = isLive || evidenceAt > record.silentSince;
  return {
    ...record,
    firstObservedAt: Math.min(record.firstObservedAt, observedAt),
    epochFirstObservedAt: Math.min(record.epochFirstObservedAt, observedAt),
    lastObservedAt: Math.max(record.lastObservedAt, observedAt),
    lastEvidenceAt: Math.max(record.lastEvidenceAt, evidenceAt),
    lastProgressAt: isProgress ? Math.max(record.lastProgressAt, evidenceAt) : record.lastProgressAt,
    silentSince: Math.max(record.silentSince, evidenceAt),
    stale: endsSilence ? undefined : record.stale,
    reconciliation: endsSilence ? undefined : record.reconciliation,
    misses: 0,
  };
}
