import type { SummaryView } from "@agent-lifecycle/proto";
import { type ChildRecord, viewOf } from "../core/index.ts";

/** A child as of its latest change. */
export interface ChildUpdate {
  readonly inputId: number;
  readonly record: ChildRecord;
}

/** One server-sent event about a child. */
export interface ChildFrame {
  readonly key: number;
  readonly text: string;
}

/**
 * Frames in the order of their input ids. One input can change many children: only the last frame of each carries the id,
 * so that a reader that resumes after it has missed none of them.
 * @param next the update that will follow the last one, if it is known already
 */
export function framesOf(updates: readonly ChildUpdate[], next: ChildUpdate | undefined): readonly ChildFrame[] {
  return updates.map(({ inputId, record }, index) => {
    const follower = updates[index + 1] ?? next;
    const id = follower?.inputId === inputId ? "" : `id: ${inputId}\n`;
    return { key: record.key, text: `event: child\n${id}data: ${JSON.stringify(viewOf(record))}\n\n` };
  });
}

/** @param isComplete whether everything up to the summary's position has been sent before it */
export function summaryFrame(summary: SummaryView, isComplete: boolean): string {
  const id = isComplete ? `id: ${summary.position}\n` : "";
  return `event: summary\n${id}data: ${JSON.stringify(summary)}\n\n`;
}

/** Tells a reader that it missed changes and must list the children again; what follows comes after `position`. */
export function resyncFrame(position: number): string {
  return `event: resync\nid: ${position}\ndata: {"position":${position}}\n\n`;
}
