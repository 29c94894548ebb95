import { isLegalEdge, isTerminal, type LifecycleEvent, type State } from "@agent-lifecycle/proto";

/**
 * What holds for the events of every adapter, whatever it was given. Each child's sequence has no gap in any epoch; it begins
 * as created or adopted; every edge is legal, until it ended: what is claimed after that is passed on and counts for nothing.
 * @throws Error that names the law.
 */
export function expectAdapterLaws(events: readonly LifecycleEvent[]): void {
  const nextSequences = new Map<string, number>();
  const states = new Map<string, State | undefined>();
  for (const event of events) {
    const { childId, sourceEpoch, sequence, state } = event;
    const place = JSON.stringify([childId, sourceEpoch]);
    const expected = nextSequences.get(place) ?? 0;
    if (sequence !== expected) throw new Error(`${childId} says ${sequence} where ${expected} comes next`);
    nextSequences.set(place, expected + 1);
    if (!states.has(childId) && event.kind !== "created" && !event.lineage.external) {
      throw new Error(`${childId} begins with ${event.kind}`);
    }
    const before = states.get(childId);
    if (state === undefined) {
      if (!states.has(childId)) states.set(childId, undefined);
    } else if (!isTerminal(before)) {
      const legal = before === undefined || isLegalEdge(before, state);
      if (!legal) throw new Error(`${childId}: ${before} → ${state}`);
      states.set(childId, state);
    }
  }
}
