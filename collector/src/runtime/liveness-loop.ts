import { isTerminal } from "@agent-lifecycle/proto";
import {
  type ChildRecord,
  type Liveness,
  type ProjectionInput,
  type ReconciliationInput,
  reconciliationOutcome,
  type StaleInput,
} from "../core/index.ts";
import type { Clock } from "./clock.ts";

export interface LivenessLoopOptions {
  readonly clock: Clock;
  readonly liveness: Liveness;
  readonly child: (source: string, childId: string) => ChildRecord | undefined;
  /** Stores and folds verdicts; resolves to `false` when that failed, and they are to be found again. */
  readonly submit: (verdicts: readonly ProjectionInput[]) => Promise<boolean>;
  /** Time between two looks. Milliseconds; default 1,000. */
  readonly intervalMs?: number;
  /**
   * A look that comes later than planned by more than this means that the collector itself was away. Below every
   * threshold of silence in use, or a short absence would count as a child's silence. Milliseconds; default 2,000.
   */
  readonly maxLatenessMs?: number;
  /** Calls back after a delay, like `setTimeout`; the timer keeps no process alive. Returns its cancellation. */
  readonly schedule?: (callback: () => void, delayMs: number) => () => void;
}

export const DEFAULT_LIVENESS_INTERVAL_MS = 1_000;
/** Well above what a busy machine causes by itself. */
export const DEFAULT_MAX_LATENESS_MS = 2_000;

/**
 * Looks for silence at a steady pace and turns it into verdicts. When the collector itself was away (suspended, stopped,
 * or with a wall clock that jumped), it first says so: nobody is judged for a silence that it slept through (S1).
 */
export class LivenessLoop {
  readonly #options: LivenessLoopOptions;
  readonly #intervalMs: number;
  readonly #maxLatenessMs: number;
  readonly #schedule: (callback: () => void, delayMs: number) => () => void;
  #cancel: (() => void) | undefined;
  #lastWall: number;
  #lastMonotonic: number;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: LivenessLoopOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? DEFAULT_LIVENESS_INTERVAL_MS;
    this.#maxLatenessMs = options.maxLatenessMs ?? DEFAULT_MAX_LATENESS_MS;
    this.#schedule = options.schedule ?? scheduleUnreferenced;
    this.#lastWall = options.clock.wallNow();
    this.#lastMonotonic = options.clock.monotonicNow();
  }

  /** Says that the collector has come (back), then looks at every interval. */
  async start(): Promise<void> {
    await this.#options.submit([{ type: "resumed", at: this.#options.clock.wallNow() }]);
    this.#takeTimes();
    this.#plan();
  }

  async shutdown(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#looking;
  }

  /** One look. Public for hosts and tests that bring their own pace. */
  async look(): Promise<void> {
    const { clock, liveness, submit } = this.#options;
    const wasAway = this.#wasAway();
    this.#takeTimes();
    const now = clock.wallNow();
    if (wasAway) {
      await submit([{ type: "resumed", at: now }]);
      return;
    }
    await this.#judge(liveness.expire(now));
    await this.#judge(this.#outcomes(now));
  }

  /** A verdict that could not be stored has not been given: its child is watched again. */
  async #judge(verdicts: readonly (StaleInput | ReconciliationInput)[]): Promise<void> {
    const { liveness, child, submit } = this.#options;
    if (await submit(verdicts)) return;
    for (const { source, childId } of verdicts) {
      const after = child(source, childId);
      if (after !== undefined) liveness.observe({ before: after, after });
    }
  }

  #outcomes(now: number): readonly ReconciliationInput[] {
    const { liveness, child } = this.#options;
    return liveness.dueReconciliations(now).flatMap(({ source, childId }): readonly ReconciliationInput[] => {
      const record = child(source, childId);
      if (record === undefined || isTerminal(record.state)) return [];
      const outcome = reconciliationOutcome(record, "none");
      return outcome === undefined ? [] : [{ type: "reconciliation", source, childId, outcome, at: now }];
    });
  }

  /** The wall clock ran ahead of the monotonic one (a suspend, a step), or this look comes much too late. */
  #wasAway(): boolean {
    const { clock } = this.#options;
    const monotonicElapsed = clock.monotonicNow() - this.#lastMonotonic;
    const wallElapsed = clock.wallNow() - this.#lastWall;
    const lateness = monotonicElapsed - this.#intervalMs;
    return wallElapsed - monotonicElapsed > this.#maxLatenessMs || lateness > this.#maxLatenessMs;
  }

  #takeTimes(): void {
    this.#lastWall = this.#options.clock.wallNow();
    this.#lastMonotonic = this.#options.clock.monotonicNow();
  }

  #plan(): void {
    this.#cancel = this.#schedule(() => {
      this.#looking = this.look().then(() => {
        if (this.#cancel !== undefined) this.#plan();
      });
    }, this.#intervalMs);
  }
}

function scheduleUnreferenced(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
