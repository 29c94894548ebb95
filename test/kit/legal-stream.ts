import { type LifecycleEvent, type State, successorsOf } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { makeEvent } from "./events.ts";

export interface StreamOptions {
  readonly childId?: string;
  readonly sourceEpoch?: string;
  readonly external?: boolean;
  /** Whether it begins in any live state, as an adopted child or a later epoch does. */
  readonly beginsAnywhere?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/**
 * A legal sequenced stream of one child in one epoch: a beginning, then legal edges with activities and heartbeats
 * between them, perhaps to an end. It starts at sequence 0 or 1.
 */
export function legalStream(options: StreamOptions = {}): fc.Arbitrary<readonly LifecycleEvent[]> {
  const { childId = "child-1", sourceEpoch = "epoch-1", external = false, minLength = 1, maxLength = 12 } = options;
  const { beginsAnywhere = external } = options;
  const step = fc.record({
    move: fc.constantFrom("state", "state", "activity", "heartbeat"),
    choice: fc.nat({ max: 1000 }),
    pause: fc.integer({ min: 0, max: 9 }),
  });
  return fc
    .record({
      firstSequence: fc.constantFrom(0, 1),
      firstState: fc.constantFrom<State>("created", "starting", "running", "waiting"),
      startsAt: fc.integer({ min: 0, max: 40 }),
      steps: fc.array(step, { minLength: minLength - 1, maxLength: maxLength - 1, size: "max" }),
    })
    .map(({ firstSequence, firstState, startsAt, steps }) => {
      let state = beginsAnywhere ? firstState : "created";
      let at = startsAt * 1000;
      const lineage = external ? { external, adoptedAt: "2026-09-01T09:00:00.000Z" } : {};
      const members = { childId, sourceEpoch, lineage };
      const stream = [makeEvent({ ...members, sequence: firstSequence, state, at })];
      for (const { move, choice, pause } of steps) {
        at += pause * 1000;
        const sequence = firstSequence + stream.length;
        if (move !== "state") {
          const activity = move === "activity" ? { activity: `step ${sequence}` } : {};
          stream.push(makeEvent({ ...members, sequence, kind: move, at, ...activity }));
          continue;
        }
        const next = successorsOf(state);
        state = next[choice % next.length] ?? state;
        stream.push(makeEvent({ ...members, sequence, state, at }));
        if (successorsOf(state).length === 0) break;
      }
      return stream;
    });
}
