import type { ChildView, State, SummaryView } from "@agent-lifecycle/proto";
import { ApiError } from "./api-error.ts";
import type { LifecycleClient } from "./lifecycle-client.ts";

export type Connection =
  /** Nothing was read yet. */
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** What is known is as of before; it is tried again. */
  | { readonly kind: "interrupted"; readonly reason: string }
  /** The collector wants a token, or another one: it is not tried again. */
  | { readonly kind: "refused"; readonly status: 401 | 403 };

/** Hears what happens, in order. */
export interface Follower {
  onConnection(connection: Connection): void;
  /** Everything that is listed now: what was known before is to be forgotten. */
  onListed(children: readonly ChildView[], summary: SummaryView): void;
  onChanged(children: readonly ChildView[], summary: SummaryView | undefined): void;
}

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** What is listed at first: children of these states, the newest of each list. Default: all of every state. */
  readonly lists?: readonly { readonly states?: readonly State[]; readonly most: number }[];
  /** Pause before the first attempt after an interruption; it doubles up to the longest. Milliseconds; defaults 500 and 10,000. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
}

const EVERYTHING = [{ most: Number.POSITIVE_INFINITY }];

/**
 * Lists the children, then follows the stream from where the listing ended. After an interruption it resumes where it was;
 * where changes were missed it lists anew. So nothing that is shown as live is older than the connection.
 * @returns when the signal is aborted or the collector refuses
 */
export async function follow(client: LifecycleClient, follower: Follower, options: FollowOptions = {}): Promise<void> {
  const { signal, firstPauseMs = 500, longestPauseMs = 10_000 } = options;
  let position: number | undefined;
  let pauseMs = firstPauseMs;
  follower.onConnection({ kind: "connecting" });
  while (!isAborted(signal)) {
    try {
      position ??= await list(client, follower, options);
      let mustListAgain = false;
      for await (const batch of client.changes(position, signal)) {
        pauseMs = firstPauseMs;
        mustListAgain = batch.resync;
        if (mustListAgain) break;
        if (batch.position !== undefined) position = batch.position;
        if (isGreeting(batch)) follower.onConnection({ kind: "live" });
        else follower.onChanged(batch.children, batch.summary);
      }
      if (!mustListAgain) throw new Error("the stream ended");
      position = undefined;
    } catch (error) {
      if (isAborted(signal)) return;
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        follower.onConnection({ kind: "refused", status: error.status });
        return;
      }
      follower.onConnection({ kind: "interrupted", reason: error instanceof Error ? error.message : String(error) });
      const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      await pause(Math.max(pauseMs, askedMs), signal);
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    }
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function isGreeting(batch: {
  readonly children: readonly ChildView[];
  readonly summary: SummaryView | undefined;
}): boolean {
  return batch.children.length === 0 && batch.summary === undefined;
}

/** @returns the position that the stream is to begin after */
async function list(
  client: LifecycleClient,
  follower: Follower,
  { lists = EVERYTHING }: FollowOptions,
): Promise<number> {
  const children: ChildView[] = [];
  let position = Number.POSITIVE_INFINITY;
  for (const { states, most } of lists) {
    let count = 0;
    const limit = Math.min(1_000, most);
    for await (const page of client.allChildren({ limit, ...(states === undefined ? undefined : { states }) })) {
      children.push(...page.children);
      // What changed while the pages were read comes again from the first one on: taking it twice is harmless.
      position = Math.min(position, page.position);
      count += page.children.length;
      if (count >= most) break;
    }
  }
  follower.onListed(children, await client.summary());
  return position;
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
