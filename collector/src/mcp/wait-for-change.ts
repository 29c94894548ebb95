import type { ChildView } from "@agent-lifecycle/proto";
import type { ChildName, LifecycleClient } from "../client/lifecycle-client.ts";

export interface WaitOptions {
  /** Only this child; without it any. */
  readonly child?: ChildName;
  /** `position` of what is known already; without it, from now on. */
  readonly after?: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface Waited {
  /** The children that changed, as they are by now; empty when nothing did in time. */
  readonly changed: readonly ChildView[];
  /** To wait from next. */
  readonly position: number;
  readonly timedOut: boolean;
  /** More changed than can be told: list again. */
  readonly mustListAgain: boolean;
}

/** Resolves with the first changes, or when the time is over. @throws ApiError when the collector refuses. */
export async function waitForChange(client: LifecycleClient, options: WaitOptions): Promise<Waited> {
  const { child, timeoutMs, signal } = options;
  let position = options.after ?? (await client.summary()).position;
  const timedOut = AbortSignal.timeout(timeoutMs);
  const over = signal === undefined ? timedOut : AbortSignal.any([signal, timedOut]);
  try {
    for await (const batch of client.changes(position, over)) {
      if (batch.position !== undefined) position = batch.position;
      if (batch.resync) return { changed: [], position, timedOut: false, mustListAgain: true };
      const changed = batch.children.filter((one) => child === undefined || isNamed(one, child));
      if (changed.length > 0) return { changed: newest(changed), position, timedOut: false, mustListAgain: false };
    }
    throw new Error("the stream ended");
  } catch (error) {
    if (timedOut.aborted) return { changed: [], position, timedOut: true, mustListAgain: false };
    throw error;
  }
}

function isNamed(one: ChildView, { source, childId }: ChildName): boolean {
  return one.source === source && one.childId === childId;
}

/** Each child once, as of its newest change. */
function newest(changed: readonly ChildView[]): readonly ChildView[] {
  return [...new Map(changed.map((child) => [JSON.stringify([child.source, child.childId]), child])).values()];
}
