import type { Writable } from "node:stream";
import type { SummaryView } from "@agent-lifecycle/proto";
import { framesOf } from "./stream-frames.ts";
import { type ChildUpdate, type TakenUpdates, UpdateQueue } from "./update-queue.ts";

/** Changed children that wait for a reader that does not keep up; with more it is told to list anew. */
const MAX_WAITING_CHILDREN = 20_000;
/** Children written at one time; the next ones when the connection has taken these. */
const MAX_CHILDREN_PER_WRITE = 50;
const HEARTBEAT = ": alive\n\n";

/**
 * One connection. While it takes data, what all readers are sent goes straight through. While it does not, nothing is
 * written to it, and the newest change of each child waits.
 */
export class StreamReader {
  readonly #output: Writable;
  readonly #waiting = new UpdateQueue(MAX_WAITING_CHILDREN);
  readonly #summaryView: () => SummaryView;
  /** What waits in the queue that all readers share, and comes after everything offered so far. */
  #following: ChildUpdate | undefined;
  /** Everything up to this input is among what it catches up on. */
  #caughtUpTo = 0;
  #isBlocked = false;
  #isBehind = false;
  #missedHeartbeats = 0;

  constructor(output: Writable, summaryView: () => SummaryView) {
    this.#output = output;
    this.#summaryView = summaryView;
    output.on("drain", () => this.#resume());
  }

  send(text: string): void {
    if (this.#output.writable) this.#isBlocked = !this.#output.write(text);
  }

  /**
   * Tells what it has missed, a piece at a time as the connection takes them; what it is offered meanwhile comes after.
   * @param missed the newest change of each child, in the order of the changes
   * @param position the input that they are as of
   */
  catchUp(missed: readonly ChildUpdate[], position: number): void {
    for (const update of missed) this.#waiting.add(update);
    this.#caughtUpTo = position;
    this.#isBehind = true;
    if (!this.#isBlocked) this.#resume();
  }

  /** @param text the same updates, written out once for all readers */
  offer(taken: TakenUpdates, text: string): void {
    this.#following = taken.next;
    if (!this.#isBlocked) {
      this.send(text);
      return;
    }
    this.#isBehind = true;
    if (taken.overflowed) this.#waiting.overflow();
    for (const update of taken.updates) if (update.inputId > this.#caughtUpTo) this.#waiting.add(update);
  }

  /** @returns `false` once nothing was taken from a full buffer for a whole heartbeat interval: then it is to be cut. */
  heartbeat(): boolean {
    if (!this.#isBlocked) {
      this.send(HEARTBEAT);
      return true;
    }
    this.#missedHeartbeats += 1;
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
    while (this.#isBehind && !this.#isBlocked && this.#output.writable) {
      const taken = this.#waiting.take(MAX_CHILDREN_PER_WRITE);
      this.#isBehind = taken.next !== undefined;
      // Changes may wait in the queue that all readers share: no id may claim what they belong to.
      const next = taken.next ?? this.#following;
      this.send(framesOf({ ...taken, next }, this.#summaryView(), false));
    }
  }
}
