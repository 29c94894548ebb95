const FIRST_DELAY_MS = 500;
const FACTOR = 2;
const LONGEST_DELAY_MS = 10_000;
/** The longest timer there is, about 24 days; a server may hardly ask for more. */
const LONGEST_RETRY_AFTER_MS = 2 ** 31 - 1;

/**
 * How long to wait before the next attempt, milliseconds: 500 × 2^(attempts − 1), at most 10 s, shortened by up to a
 * fifth at random so that many producers do not return together. A server's own `retryAfterMs` is kept to instead, whatever its
 * length.
 * `attempts` counts those made, from 1; `random` lies in [0, 1).
 */
export function retryDelayMs(attempts: number, retryAfterMs: number | undefined, random: number): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, 0), LONGEST_RETRY_AFTER_MS);
  const delay = Math.min(FIRST_DELAY_MS * FACTOR ** Math.min(attempts - 1, 16), LONGEST_DELAY_MS);
  return Math.round(delay * (1 - 0.2 * random));
}
