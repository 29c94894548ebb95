import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { makeEvent } from "./events.ts";

/** Event number `sequence` of a child that starts and then works without an end: a heartbeat, an activity, and so on. */
export function eventOf(childId: string, sequence: number): LifecycleEvent {
  const state = (["created", "starting", "running"] as const)[sequence];
  if (state !== undefined) return makeEvent({ childId, sequence, state, at: sequence });
  return sequence % 2 === 0
    ? makeEvent({ childId, sequence, at: sequence })
    : makeEvent({ childId, sequence, at: sequence, kind: "activity", activity: `step ${sequence}` });
}

/** The first `count` of them, or those from `first` on. */
export function eventsOf(childId: string, count: number, first = 0): readonly LifecycleEvent[] {
  return Array.from({ length: count }, (_, index) => eventOf(childId, first + index));
}
