import type { Clock } from "./clock.ts";

export interface RateLimitOptions {
  /** What a sender may do in a second, on average; as much may come at once. */
  readonly perSecond: number;
  readonly clock: Clock;
}

/** What a sender has left, as of a moment. */
interface Allowance {
  tokens: number;
  at: number;
}

/** Senders are told apart by their tokens and certificates, of which there are few; an attacker could make up many. */
const MAX_SENDERS = 10_000;

/** A token bucket for each sender: one that sends too much is refused, and the others do not notice. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #allowances = new Map<string, Allowance>();
  #perSecond: number;

  constructor({ perSecond, clock }: RateLimitOptions) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** Takes a new limit; what senders have left is cut to it. */
  limitTo(perSecond: number): void {
    this.#perSecond = perSecond;
  }

  /** Counts one request. @returns 0 when it may pass, or the seconds until the next one may. */
  take(sender: string): number {
    const now = this.#clock.monotonicNow();
    const allowance = this.#allowanceOf(sender, now);
    const earned = ((now - allowance.at) / 1000) * this.#perSecond;
    allowance.tokens = Math.min(this.#burst, allowance.tokens + earned);
    allowance.at = now;
    if (allowance.tokens < 1) return (1 - allowance.tokens) / this.#perSecond;
    allowance.tokens -= 1;
    return 0;
  }

  /** A rate below one request a second would never let one pass otherwise. */
  get #burst(): number {
    return Math.max(1, this.#perSecond);
  }

  #allowanceOf(sender: string, now: number): Allowance {
    const known = this.#allowances.get(sender);
    // The one that was quiet for longest comes first: it is the one to be forgotten, and has the least to lose.
    this.#allowances.delete(sender);
    const allowance = known ?? { tokens: this.#burst, at: now };
    this.#allowances.set(sender, allowance);
    if (this.#allowances.size > MAX_SENDERS) {
      const [oldest] = this.#allowances.keys();
      if (oldest !== undefined) this.#allowances.delete(oldest);
    }
    return allowance;
  }
}
