import type { SnapshotSource } from "@agent-lifecycle/collector";
import type { LifecycleSnapshot } from "@agent-lifecycle/proto";
import { makeSnapshot, type SnapshotMembers } from "./events.ts";

/** What an authority does when it is asked: its snapshot as of now, a given value, a failure, or nothing at all. */
export type Behaviour = "answers" | "hangs" | { readonly fails: string } | { readonly gives: unknown };

/** An authority whose knowledge and behaviour are a test's. Every answer that it makes up is a new statement. */
export class ScriptedAuthority implements SnapshotSource {
  readonly source: string;
  behaviour: Behaviour = "answers";
  /** What it says besides when it looked. */
  knows: Omit<SnapshotMembers, "at" | "snapshotId"> = {};
  /** It looks so much earlier than it answers. Milliseconds. */
  lagMs = 0;
  /** How long an answer takes. Milliseconds. */
  delayMs = 0;
  /** When it was asked, in milliseconds of true time. */
  readonly askedAt: number[] = [];
  isStarted = false;
  isShutDown = false;
  /** Calls that have not ended. */
  open = 0;
  /** The most that ever were open at one time. */
  mostOpen = 0;
  readonly #now: () => number;
  readonly #delay: (run: () => void, delayMs: number) => unknown;

  constructor(source: string, now: () => number, delay: (run: () => void, delayMs: number) => unknown) {
    this.source = source;
    this.#now = now;
    this.#delay = delay;
  }

  async start(): Promise<void> {
    this.isStarted = true;
  }

  async shutdown(): Promise<void> {
    this.isShutDown = true;
  }

  async fetch(signal: AbortSignal): Promise<unknown> {
    this.askedAt.push(this.#now());
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    try {
      const answer = this.#answer();
      if (this.delayMs > 0) await new Promise<void>((resolve) => this.#delay(resolve, this.delayMs));
      return await answer(signal);
    } finally {
      this.open -= 1;
    }
  }

  snapshot(): LifecycleSnapshot {
    const at = this.#now() - this.lagMs;
    return makeSnapshot({ source: this.source, ...this.knows, at, snapshotId: `look ${this.askedAt.length} at ${at}` });
  }

  #answer(): (signal: AbortSignal) => unknown {
    const { behaviour } = this;
    if (behaviour === "hangs") return untilAborted;
    if (behaviour === "answers") {
      const snapshot = JSON.parse(JSON.stringify(this.snapshot())) as unknown;
      return () => snapshot;
    }
    if ("gives" in behaviour) return () => behaviour.gives;
    return () => {
      throw new Error(behaviour.fails);
    };
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("given up")), { once: true });
  });
}
