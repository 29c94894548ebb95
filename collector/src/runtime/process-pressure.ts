import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "./clock.ts";
import type { Component } from "./component.ts";
import { type Schedule, scheduleUnreferenced } from "./schedule.ts";

export interface ProcessPressureOptions {
  readonly clock: Clock;
  /** Turns of the event loop that take longer than this mean that more comes in than can be handled. Milliseconds. */
  readonly maxEventLoopDelayMs: number;
  /** Memory in use beyond which nothing more is let in. Bytes. */
  readonly maxMemoryBytes: number;
  /** Memory in use now: the heap, and what it holds outside of itself. Bytes. Default: the process's. */
  readonly usedMemoryBytes?: () => number;
  /** Default: a full collection by V8. */
  readonly collectGarbage?: () => void;
  /** Default: timers that keep no process alive. */
  readonly schedule?: Schedule;
}

/** What keeps the process from taking more. */
export type Pressure = "event_loop" | "memory";

const INTERVAL_MS = 100;
/** A full collection stops everything for as long as it takes: it is asked for at most this often. */
const GARBAGE_INTERVAL_MS = 10_000;
/** Pressure is over when it has fallen this far below its limit; at the limit itself it would come and go. */
const RELIEF = 0.5;
const MEMORY_RELIEF = 0.95;

/**
 * Watches how late timers come and how much memory is in use. While either is beyond its limit, requests are refused
 * before anything of them is read, so that what was let in gets done.
 */
export class ProcessPressure implements Component {
  readonly #options: ProcessPressureOptions;
  readonly #schedule: Schedule;
  #cancel: (() => void) | undefined;
  #plannedAt = 0;
  #isLate = false;
  #isFull = false;
  #lastCollectionAt = Number.NEGATIVE_INFINITY;
  #delayMs = 0;

  constructor(options: ProcessPressureOptions) {
    this.#options = options;
    this.#schedule = options.schedule ?? scheduleUnreferenced;
  }

  /** What is too much now, or `undefined`. */
  get current(): Pressure | undefined {
    if (this.#isFull) return "memory";
    return this.#isLate ? "event_loop" : undefined;
  }

  /** How late the newest look was. Milliseconds. */
  get eventLoopDelayMs(): number {
    return this.#delayMs;
  }

  async start(): Promise<void> {
    this.#plan();
  }

  async shutdown(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #plan(): void {
    this.#plannedAt = this.#options.clock.monotonicNow() + INTERVAL_MS;
    this.#cancel = this.#schedule(() => {
      this.#look();
      this.#plan();
    }, INTERVAL_MS);
  }

  #look(): void {
    const { clock, maxEventLoopDelayMs } = this.#options;
    const now = clock.monotonicNow();
    const wasLate = this.#delayMs > maxEventLoopDelayMs;
    this.#delayMs = Math.max(0, now - this.#plannedAt);
    // One late look alone comes after a suspend as well, when there is nothing that could be too much.
    this.#isLate = this.#isLate
      ? this.#delayMs > maxEventLoopDelayMs * RELIEF
      : wasLate && this.#delayMs > maxEventLoopDelayMs;
    this.#isFull = this.#isMemoryBeyond(this.#isFull ? MEMORY_RELIEF : 1);
    // Much of what is in use may be garbage, and while nothing is let in nothing makes V8 look for it.
    if (!this.#isFull || now - this.#lastCollectionAt < GARBAGE_INTERVAL_MS) return;
    this.#lastCollectionAt = now;
    (this.#options.collectGarbage ?? collectGarbage)();
    this.#isFull = this.#isMemoryBeyond(MEMORY_RELIEF);
  }

  #isMemoryBeyond(share: number): boolean {
    const { usedMemoryBytes = usedMemoryOfProcess, maxMemoryBytes } = this.#options;
    return usedMemoryBytes() > maxMemoryBytes * share;
  }
}

function usedMemoryOfProcess(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let fullCollection: (() => void) | undefined;

/** V8 offers its collection to contexts that are made after the flag was set. */
function collectGarbage(): void {
  if (fullCollection === undefined) {
    setFlagsFromString("--expose-gc");
    fullCollection = runInNewContext("gc") as () => void;
    setFlagsFromString("--no-expose-gc");
  }
  fullCollection();
}
