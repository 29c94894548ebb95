import { isTerminal } from "@agent-lifecycle/proto";
import type { ChildRecord } from "../projection/child-record.ts";
import type { ChildChange, StaleInput } from "../projection/input.ts";
import { MinHeap } from "./min-heap.ts";
import { SilenceQueue } from "./silence-queue.ts";

/** How long a source's children may be silent (S2). */
export interface FreshnessPolicy {
  /** Silence that makes a child stale. Milliseconds; 120,000 by default. */
  readonly staleAfterMs: number;
  /** How long after that an answer is awaited before the child may be lost. Milliseconds; 30,000 by default. */
  readonly reconcileDeadlineMs: number;
}

export const DEFAULT_FRESHNESS: FreshnessPolicy = { staleAfterMs: 120_000, reconcileDeadlineMs: 30_000 };

/**
 * S8: what is wrong with a threshold below twice the heartbeat interval that the source declares, in words with the
 * numbers, or `undefined`.
 */
export function checkFreshness(policy: FreshnessPolicy, heartbeatIntervalMs: number | undefined): string | undefined {
  if (heartbeatIntervalMs === undefined || policy.staleAfterMs >= 2 * heartbeatIntervalMs) return undefined;
  return (
    `staleAfter ${policy.staleAfterMs} ms is below twice the declared heartbeat interval ` +
    `of ${heartbeatIntervalMs} ms: one late heartbeat would mark a healthy child stale`
  );
}

/** A child whose requested reconciliation has reached its deadline. */
export interface DueReconciliation {
  readonly source: string;
  readonly childId: string;
  readonly deadline: number;
}

interface Request extends DueReconciliation {
  readonly key: number;
}

/**
 * Watches silences and open reconciliations. It decides nothing: it names who is due, as inputs that the projection
 * checks again (S7). Its work grows with the children that expire, not with all children (S2).
 */
export class Liveness {
  readonly #policyOf: (source: string) => FreshnessPolicy;
  /** One queue for each threshold in use: within a queue, the longest silence is the next to expire. */
  readonly #queues = new Map<number, SilenceQueue>();
  readonly #requests = new MinHeap<Request>((request) => request.deadline);
  /** The open request of each child. It stays until the record closes it, so that no later change names it again. */
  readonly #openRequests = new Map<number, Request>();

  constructor(policyOf: (source: string) => FreshnessPolicy) {
    this.#policyOf = policyOf;
  }

  /** Keeps up with one change of the projection. */
  observe({ after }: ChildChange): void {
    const queue = this.#queueOf(after.source);
    const isWatched = after.state !== undefined && !isTerminal(after.state) && after.stale === undefined;
    if (isWatched) queue.watch(after);
    else queue.unwatch(after);
    this.#observeRequest(after);
  }

  /** The children that have been silent for too long at `now`, as verdicts to be stored and folded. Each is named once. */
  expire(now: number): readonly StaleInput[] {
    const verdicts: StaleInput[] = [];
    for (const [staleAfterMs, queue] of this.#queues) {
      for (const record of queue.takeSilentSince(now - staleAfterMs)) {
        const { source, childId, silentSince } = record;
        const deadline = now + this.#policyOf(source).reconcileDeadlineMs;
        verdicts.push({ type: "stale", source, childId, at: now, silentSince, deadline });
      }
    }
    return verdicts;
  }

  /** The reconciliations whose deadline has come at `now`. Each is named once. */
  dueReconciliations(now: number): readonly DueReconciliation[] {
    const due: DueReconciliation[] = [];
    for (let next = this.#requests.peek(); next !== undefined && next.deadline <= now; next = this.#requests.peek()) {
      this.#requests.pop();
      if (this.#openRequests.get(next.key) !== next) continue;
      due.push({ source: next.source, childId: next.childId, deadline: next.deadline });
    }
    return due;
  }

  /** Takes back that `expire` or `dueReconciliations` named this child: no verdict was given after all. */
  nameAgain(record: ChildRecord): void {
    this.#openRequests.delete(record.key);
    this.observe({ before: record, after: record });
  }

  /** Live children that are watched for silence. */
  get watched(): number {
    let watched = 0;
    for (const queue of this.#queues.values()) watched += queue.size;
    return watched;
  }

  /** Nothing expires before this time; `undefined` when nothing is watched. */
  get nextDeadline(): number | undefined {
    let next = this.#requests.peek()?.deadline;
    for (const [staleAfterMs, queue] of this.#queues) {
      const earliest = queue.earliest;
      if (earliest !== undefined) next = Math.min(next ?? Number.POSITIVE_INFINITY, earliest + staleAfterMs);
    }
    return next;
  }

  #observeRequest({ key, source, childId, reconciliation }: ChildRecord): void {
    const open = this.#openRequests.get(key);
    if (reconciliation === undefined) {
      if (open !== undefined) this.#openRequests.delete(key);
    } else if (open?.deadline !== reconciliation.deadline) {
      const request = { key, source, childId, deadline: reconciliation.deadline };
      this.#openRequests.set(key, request);
      this.#requests.push(request);
    }
  }

  #queueOf(source: string): SilenceQueue {
    const { staleAfterMs } = this.#policyOf(source);
    const known = this.#queues.get(staleAfterMs);
    if (known !== undefined) return known;
    const added = new SilenceQueue();
    this.#queues.set(staleAfterMs, added);
    return added;
  }
}
