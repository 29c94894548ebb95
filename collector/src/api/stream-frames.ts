import type { SummaryView } from "@agent-lifecycle/proto";
import { viewOf } from "../core/index.ts";
import type { ChildUpdate, TakenUpdates } from "./update-queue.ts";

/**
 * Taken updates as server-sent events, and the summary after them. An id says that everything up to it was sent: one input
 * can change many children, so that only the last of them carries it, and the summary only when nothing is left to send.
 * @param isComplete whether nothing else waits for this reader, here or elsewhere
 */
export function framesOf(
  { updates, next, overflowed }: TakenUpdates,
  summary: SummaryView,
  isComplete: boolean = next === undefined,
): string {
  const position = next === undefined ? summary.position : next.inputId - 1;
  const resync = overflowed ? resyncFrame(position) : "";
  return resync + childFrames(updates, next) + summaryFrame(summary, isComplete);
}

/** Tells a reader that it missed changes and must list the children again; what follows comes after `position`. */
export function resyncFrame(position: number): string {
  return `event: resync\nid: ${position}\ndata: {"position":${position}}\n\n`;
}

export function summaryFrame(summary: SummaryView, isComplete: boolean): string {
  const id = isComplete ? `id: ${summary.position}\n` : "";
  return `event: summary\n${id}data: ${JSON.stringify(summary)}\n\n`;
}

function childFrames(updates: readonly ChildUpdate[], next: ChildUpdate | undefined): string {
  let text = "";
  for (const [index, { inputId, record }] of updates.entries()) {
    const follower = updates[index + 1] ?? next;
    const id = follower?.inputId === inputId ? "" : `id: ${inputId}\n`;
    text += `event: child\n${id}data: ${JSON.stringify(viewOf(record))}\n\n`;
  }
  return text;
}
