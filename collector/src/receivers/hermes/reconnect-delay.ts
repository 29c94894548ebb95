import type { LinkEnd } from "./frame-link.ts";

export interface ReconnectPolicy {
  /** After a first end; doubled with each further one. Milliseconds. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The same for a gateway that refuses us: its answer will not change by itself. */
  readonly refusedFirstMs: number;
  readonly refusedLongestMs: number;
}

export const DEFAULT_RECONNECT_POLICY: ReconnectPolicy = {
  firstMs: 500,
  longestMs: 30_000,
  refusedFirstMs: 30_000,
  refusedLongestMs: 600_000,
};

/** Spread of every wait, so that many collectors do not come back at the same moment: up to a fifth longer. */
const JITTER = 0.2;
const MOST_DOUBLINGS = 20;

/** How long to wait before the next connection. */
export class ReconnectDelay {
  readonly #policy: ReconnectPolicy;
  readonly #random: () => number;
  #failuresInARow = 0;

  /** @param random in [0, 1) */
  constructor(policy: ReconnectPolicy, random: () => number) {
    this.#policy = policy;
    this.#random = random;
  }

  /** A connection that worked: whatever failed before it counts no longer. */
  worked(): void {
    this.#failuresInARow = 0;
  }

  /** The wait after a connection that ended so. Milliseconds. */
  after(end: LinkEnd): number {
    const { firstMs, longestMs, refusedFirstMs, refusedLongestMs } = this.#policy;
    const isRefused = end.kind === "refused";
    const factor = 2 ** Math.min(this.#failuresInARow, MOST_DOUBLINGS);
    this.#failuresInARow += 1;
    const waitMs = Math.min(isRefused ? refusedLongestMs : longestMs, (isRefused ? refusedFirstMs : firstMs) * factor);
    return waitMs * (1 + JITTER * this.#random());
  }
}
