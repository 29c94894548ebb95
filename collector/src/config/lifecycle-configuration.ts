import type { FreshnessPolicy } from "../core/index.ts";

/** When a child's silence means something. The freshness here is that of every source that has none of its own. */
export interface LifecycleConfiguration extends FreshnessPolicy {
  /** Consecutive complete snapshots that may omit a child before it is stale. Default 2. */
  readonly missingGrace: number;
  /** Time between two looks for silence. Milliseconds; default 1,000. */
  readonly checkIntervalMs: number;
  /** Default: none, by the source's name. */
  readonly sources: ReadonlyMap<string, SourceConfiguration>;
}

/** What an operator may say of one source. */
export interface SourceConfiguration extends Partial<FreshnessPolicy> {
  /** The heartbeat interval the source keeps; `staleAfterMs` must be at least twice as long (S8). Milliseconds. */
  readonly heartbeatIntervalMs?: number;
  /** As in `LifecycleConfiguration`, for this source. */
  readonly missingGrace?: number;
}
