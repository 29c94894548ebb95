import { isTerminal } from "@agent-lifecycle/proto";
import {
  type AuthorityAnswer,
  type ChildRecord,
  type Liveness,
  type ProjectionInput,
  type ReconciliationInput,
  reconciliationOutcome,
  type StaleInput,
} from "../core/index.ts";
import type { Clock } from "./clock.ts";
import { type Schedule, scheduleUnreferenced } from "./schedule.ts";

export interface LivenessLoopOptions {
  readonly clock: Clock;
  readonly liveness: Liveness;
  readonly child: (source: string, childId: string) => ChildRecord | undefined;
  /** Stores and folds verdicts; resolves to `false` when that failed, and they are to be found again. */
  readonly submit: (verdicts: readonly ProjectionInput[]) => Promise<boolean>;
  /** Whether evidence can be stored now. While it cannot, no silence proves anything: the collector is as good as away. */
  readonly isReceiving: () => boolean;
  /** What the authority of the child's source had to say by the deadline (S6). Default: no source has one. */
  readonly answerAbout?: (record: ChildRecord) => AuthorityAnswer;
  /** Called when it is stored that the collector was away: every open question begins anew. */
  readonly onResumed?: () => void;
  readonly onError: (error: unknown) => void;
  /** Time between two looks. Milliseconds; default 1,000. */
  readonly intervalMs?: number;
  /**
   * A look that comes later than planned by more than this means that the collector itself was away. Below every
   * threshold of silence in use, or a short absence would count as a child's silence. Milliseconds; default 2,000.
   */
  readonly maxLatenessMs?: number;
  /** Default: timers that keep no process alive. */
  readonly schedule?: Schedule;
}

const DEFAULT_LIVENESS_INTERVAL_MS = 1_000;
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
  readonly #schedule: Schedule;
  #cancel: (() => void) | undefined;
  #last: Moment;
  /** An absence that is not stored yet: until it is, a silence proves nothing. */
  #owesResumption = false;
  #isShutDown = false;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: LivenessLoopOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? DEFAULT_LIVENESS_INTERVAL_MS;
    this.#maxLatenessMs = options.maxLatenessMs ?? DEFAULT_MAX_LATENESS_MS;
    this.#schedule = options.schedule ?? scheduleUnreferenced;
    this.#last = momentOf(options.clock);
  }

  /** Says that the collector has come (back), then looks at every interval. */
  async start(): Promise<void> {
    this.#last = momentOf(this.#options.clock);
    this.#looking = this.#resume();
    await this.#looking;
    if (!this.#isShutDown) this.#plan();
  }

  async shutdown(): Promise<void> {
    this.#isShutDown = true;
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#looking;
  }

  /** One look. Public for hosts and tests that bring their own pace. */
  async look(): Promise<void> {
    const { clock, liveness } = this.#options;
    // One reading serves the whole look: an absence that begins in the middle of it is left for the next one to notice.
    const moment = momentOf(clock);
    if (this.#wasAwayUntil(moment) || !this.#options.isReceiving()) this.#owesResumption = true;
    this.#last = moment;
    if (this.#owesResumption) {
      await this.#resume();
      return;
    }
    await this.#judge(liveness.expire(moment.wall));
    await this.#judge(this.#outcomes(moment.wall));
  }

  async #resume(): Promise<void> {
    const { clock, submit, onResumed } = this.#options;
    this.#owesResumption = true;
    if (!(await submit([{ type: "resumed", at: clock.wallNow() }]))) return;
    this.#owesResumption = false;
    onResumed?.();
  }

  /** A verdict that could not be stored has not been given: its child is watched again. */
  async #judge(verdicts: readonly (StaleInput | ReconciliationInput)[]): Promise<void> {
    const { liveness, child, submit } = this.#options;
    let isStored = verdicts.length === 0;
    try {
      isStored ||= await submit(verdicts);
    } finally {
      if (!isStored) {
        this.#owesResumption = true;
        for (const { source, childId } of verdicts) {
          const after = child(source, childId);
          if (after !== undefined) liveness.nameAgain(after);
        }
      }
    }
  }

  #outcomes(now: number): readonly ReconciliationInput[] {
    const { liveness, child, answerAbout = () => "none" } = this.#options;
    return liveness.dueReconciliations(now).flatMap(({ source, childId }): readonly ReconciliationInput[] => {
      const record = child(source, childId);
      if (record === undefined || isTerminal(record.state)) return [];
      return [
        { type: "reconciliation", source, childId, ...reconciliationOutcome(record, answerAbout(record)), at: now },
      ];
    });
  }

  /** The wall clock moved otherwise than the monotonic one (a suspend, a step), or this look comes much too late. */
  #wasAwayUntil(moment: Moment): boolean {
    const monotonicElapsed = moment.monotonic - this.#last.monotonic;
    const wallElapsed = moment.wall - this.#last.wall;
    const lateness = monotonicElapsed - this.#intervalMs;
    return Math.abs(wallElapsed - monotonicElapsed) > this.#maxLatenessMs || lateness > this.#maxLatenessMs;
  }

  #plan(): void {
    this.#cancel = this.#schedule(() => {
      this.#looking = this.look()
        .catch(this.#options.onError)
        .then(() => {
          if (!this.#isShutDown) this.#plan();
        });
    }, this.#intervalMs);
  }
}

/** One point in time, on both clocks. Milliseconds. */
interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

function momentOf(clock: Clock): Moment {
  return { wall: clock.wallNow(), monotonic: clock.monotonicNow() };
}
