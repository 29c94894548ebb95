import type { EventInput } from "@agent-lifecycle/collector/projection";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { CHILDREN_PER_COHORT, cohortEvents, EVENTS_PER_CHILD } from "./cohort.ts";

/** At least so many events of whole cohorts, in the order they are said. */
export function eventStream(events: number): readonly LifecycleEvent[] {
  const cohorts = Math.ceil(events / (CHILDREN_PER_COHORT * EVENTS_PER_CHILD));
  return Array.from({ length: cohorts }, (_, cohort) => cohortEvents(cohort)).flat();
}

/** Events as the door hands them to the fold: received a moment after they were observed. */
export function inputsOf(events: readonly LifecycleEvent[]): readonly EventInput[] {
  return events.map((event) => ({
    type: "event",
    event,
    receivedAt: Date.parse(event.observedAt) + 5,
    backfill: false,
    identity: "new",
  }));
}
