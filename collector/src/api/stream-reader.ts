import type { Writable } from "node:stream";
import { type ChildFrame, resyncFrame } from "./update-batch.ts";

/** Frames kept for a reader that does not keep up, the newest per child. With more it is told to list anew. */
const MAX_WAITING_FRAMES = 1_000;
const HEARTBEAT = ": alive\n\n";

/** What all readers are sent at one time. */
export interface StreamBatch {
  readonly frames: readonly ChildFrame[];
  readonly summary: string;
  /** Id of the newest input that the batch and everything before it take in. */
  readonly position: number;
  /** Changes were given up before it: whoever gets it is to list anew. */
  readonly mustResync: boolean;
}

/**
 * One connection. While it takes data, batches go straight through; while it does not, nothing is written to it: the
 * newest frame of each child waits here, up to a bound.
 */
export class StreamReader {
  readonly #output: Writable;
  readonly #waiting = new Map<number, string>();
  #waitingSummary = "";
  #position = 0;
  #isBlocked = false;
  #mustResync = false;
  #missedHeartbeats = 0;

  constructor(output: Writable) {
    this.#output = output;
    output.on("drain", () => this.#resume());
  }

  send(text: string): void {
    if (!this.#output.writable) return;
    this.#isBlocked = !this.#output.write(text) || this.#isBlocked;
  }

  /** @param text the whole batch, made once for all readers */
  offer(batch: StreamBatch, text: string): void {
    if (!this.#isBlocked) {
      this.send(text);
      return;
    }
    this.#position = batch.position;
    this.#waitingSummary = batch.summary;
    this.#mustResync ||= batch.mustResync;
    if (!this.#mustResync) this.#keep(batch);
  }

  #keep(batch: StreamBatch): void {
    for (const { key, text: frame } of batch.frames) {
      // A child that changed again belongs at the end: frames stay in the order of their ids.
      this.#waiting.delete(key);
      this.#waiting.set(key, frame);
    }
    if (this.#waiting.size <= MAX_WAITING_FRAMES) return;
    this.#mustResync = true;
    this.#waiting.clear();
  }

  /** @returns `false` once nothing was taken from a full buffer for a whole heartbeat interval: then it is to be cut. */
  heartbeat(): boolean {
    if (this.#isBlocked) this.#missedHeartbeats += 1;
    else {
      this.#missedHeartbeats = 0;
      this.send(HEARTBEAT);
    }
    return this.#missedHeartbeats < 2;
  }

  end(): void {
    this.#output.end();
  }

  cut(): void {
    this.#output.destroy();
  }

  #resume(): void {
    this.#isBlocked = false;
    this.#missedHeartbeats = 0;
    const changes = this.#mustResync ? resyncFrame(this.#position) : [...this.#waiting.values()].join("");
    const text = changes + this.#waitingSummary;
    this.#waiting.clear();
    this.#waitingSummary = "";
    this.#mustResync = false;
    if (text !== "") this.send(text);
  }
}
