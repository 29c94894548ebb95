import type { VisibilityContract } from "@agent-lifecycle/proto";
import type { Child } from "./child.ts";
import type { AdoptOptions, ChildOptions } from "./child-options.ts";
import type { DropReason, Rejection } from "./counters.ts";
import type { SdkDiagnosticCode } from "./diagnostics.ts";
import type { VisibilityOptions } from "./visibility.ts";

export interface DeadlineOptions {
  /** Milliseconds; default 5,000. The promise settles by then, whatever the endpoint does. */
  readonly timeoutMs?: number;
}

/** Whether everything asked for was done before the deadline. */
export interface FlushResult {
  readonly complete: boolean;
}

/**
 * Which way events took. At any time
 * `emitted = buffered + exported + spooled + writtenToJsonl + handedToHost + suppressed + the sum of dropped`.
 */
export interface LifecycleCounters {
  /** Every event a call has made. */
  readonly emitted: number;
  /** Waiting, or on their way. */
  readonly buffered: number;
  /** Taken by the endpoint. */
  readonly exported: number;
  /** Lying in the spool, until they are replayed; after a shutdown, by whoever comes next. */
  readonly spooled: number;
  /** Of `exported`, those that came from the spool. */
  readonly replayed: number;
  /** Beside all of this: events of earlier processes that were delivered from the spools they left. */
  readonly adopted: number;
  /** Those of them that the endpoint did not want. */
  readonly adoptedRefused: number;
  readonly writtenToJsonl: number;
  /** Emitted into the host's own logger provider. */
  readonly handedToHost: number;
  /** Made while the lifecycle is switched off (`OTEL_SDK_DISABLED`, unusable configuration). */
  readonly suppressed: number;
  /** Lost, by reason. */
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
  /** What the endpoint said about `rejected_by_endpoint`; at most 17 entries. */
  readonly rejections: readonly Rejection[];
  readonly diagnostics: Readonly<Partial<Record<SdkDiagnosticCode, number>>>;
}

/** Reports the children of one source. No method throws, and none but `flush` and `shutdown` takes time. */
export interface Lifecycle extends AsyncDisposable {
  readonly source: string;
  readonly sourceEpoch: string;
  /** Begins a child and emits its first event at once. */
  child(options?: ChildOptions): Child;
  /**
   * Begins to report on a child that was there before. It is marked as adopted, with the time; nothing is claimed of its
   * past, and of its capabilities only what is named: no heartbeats are sent for it unless that is asked for.
   */
  adopt(options?: AdoptOptions): Child;
  /**
   * Waits until everything emitted before the call is delivered, written to JSONL or the spool, or dropped. With a spool
   * that means one try: an endpoint that is away is not waited for. Calls may overlap.
   */
  flush(options?: DeadlineOptions): Promise<FlushResult>;
  /**
   * Flushes, then stops heartbeats and removes the exit hooks. What is open at the deadline is written to the
   * spool or to JSONL, or counted as dropped. Later events are dropped and counted. Further calls return the first one's promise. Children
   * that have not ended stay as they are, for the end of a reporter is not the end of what it reported; but nobody
   * speaks for them any more, and a collector will find them silent, stale, and at last lost.
   */
  shutdown(options?: DeadlineOptions): Promise<FlushResult>;
  counters(): LifecycleCounters;
  /**
   * What can be stated, before a child is launched, about how the children of this source can be seen: from the real
   * configuration, and from what the host adds. It rides in the environment that `child.environment()` makes.
   */
  visibilityContract(options?: VisibilityOptions): VisibilityContract;
  /** What whoever launched this process declared of it; `undefined` when nothing was. */
  readonly inheritedVisibility: VisibilityContract | undefined;
}
