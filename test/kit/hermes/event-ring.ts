import type { Members } from "./frames.ts";

/** Frames of one session that a gateway keeps. */
const RING_SIZE = 512;

/** The frames of one session, numbered from 1; the oldest make room, or all at once when a test says so. */
export class EventRing {
  #frames: Members[] = [];
  #next = 1;
  #evicted = 0;

  add(frame: Members): Members {
    const numbered = { ...frame, seq: this.#next };
    this.#next += 1;
    this.#frames.push(numbered);
    if (this.#frames.length > RING_SIZE) this.#evicted = Number(this.#frames.shift()?.["seq"]);
    return numbered;
  }

  evictAll(): void {
    this.#frames = [];
    this.#evicted = this.#next - 1;
  }

  /** The answer to `session.events.since`, but for the epoch. */
  since(lastSeen: number): Members {
    const events = this.#frames.filter((frame) => Number(frame["seq"]) > lastSeen);
    return { events, count: events.length, latest_seq: this.#next - 1, truncated: lastSeen < this.#evicted };
  }
}
