import type { Lineage, State, VisibilityContract } from "@agent-lifecycle/proto";
import type { RetryOptions } from "./child-options.ts";
import type { DetailsInput, WaitingReason } from "./event-details.ts";
import type { Carrier } from "./lineage/carrier.ts";
import type { VisibilityOptions } from "./visibility.ts";

/**
 * The handle of one child. Every method returns at once and never throws: a call that the contract does not allow, or
 * with arguments that cannot be used, emits nothing and is a diagnostic. Legal order:
 * created → starting → running ⇄ waiting → completed | failed | cancelled; failed and cancelled also from created and
 * starting, waiting also from starting. Nothing follows an ending but `retry()`.
 */
export interface Child {
  readonly childId: string;
  /** The state last emitted. */
  readonly state: State;
  readonly lineage: Lineage;
  /** Something is bringing it up. */
  starting(details?: DetailsInput): void;
  /** It works. Only from starting or waiting: a new child is to be `starting()` first. */
  running(details?: DetailsInput): void;
  /** It is alive and blocked on somebody or something. A text becomes `waitingOn { kind: "other", text }`. */
  waiting(reason?: WaitingReason, details?: DetailsInput): void;
  /** What it does now, for people: redacted, cut at 1,024 characters. Changes no state. */
  activity(text: string, details?: DetailsInput): void;
  /** A sign of life on demand; automatic ones go on beside it. Changes no state. */
  heartbeat(details?: DetailsInput): void;
  /** A note about it that is no evidence: shown beside it, redacted and cut as an activity is. Changes no state. */
  diagnostic(text: string, details?: DetailsInput): void;
  completed(details?: DetailsInput): void;
  /** `cause`: a short word (`timeout`), or an error: its name becomes the cause, its message `errorMessage`. */
  failed(cause?: unknown, details?: DetailsInput): void;
  cancelled(details?: DetailsInput): void;
  /**
   * A new child in the same place: same root and parent, next attempt. Only after this one has ended; before, the
   * child returned is inert and emits nothing.
   */
  retry(options?: RetryOptions): Child;
  /** As the lifecycle's, about this child. */
  visibilityContract(options?: VisibilityOptions): VisibilityContract;
  /** Tells the collector the contract, which keeps it for the source, shows it, and compares it with what it sees. */
  declareVisibility(options?: VisibilityOptions): void;
  /**
   * Runs a function for this child: children that are created in it, and in whatever it starts, are delegated by this one
   * without being told so. Returns and throws what the function does; asynchronous ones are followed.
   */
  run<Result>(work: () => Result): Result;
  /**
   * The environment for a process that works for this child, so that children created there know who delegated them:
   * `spawn("worker", { env: child.environment() })`. Carries the active trace and baggage too.
   * @param base what is added to; default `process.env`
   */
  environment(base?: Readonly<Record<string, string | undefined>>): Record<string, string | undefined>;
  /** The same for a worker thread: `new Worker(file, { workerData: child.workerData({ task }) })`. */
  workerData<Data extends object>(own?: Data): Data & { readonly agentLifecycle: Carrier };
}
